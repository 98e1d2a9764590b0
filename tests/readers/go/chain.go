package main

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
)

// Whether a client with this bundle of authorities would trust a server that sends this chain: as client-go makes the pool, and as
// crypto/tls asks.
func readChain(text []byte) (any, error) {
	var input struct{ CA, Chain, Name string }
	if err := json.Unmarshal(text, &input); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(input.CA)) {
		return nil, fmt.Errorf("unable to load root certificates")
	}
	var sent []*x509.Certificate
	for rest := []byte(input.Chain); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		sent = append(sent, certificate)
	}
	if len(sent) == 0 {
		return nil, fmt.Errorf("nothing was sent")
	}
	others := x509.NewCertPool()
	for _, certificate := range sent[1:] {
		others.AddCert(certificate)
	}
	_, err := sent[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: others, DNSName: input.Name})
	return err == nil, err
}
