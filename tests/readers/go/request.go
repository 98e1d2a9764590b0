package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
)

// As the API server (ParseCSR and its validation) and the signer read a certificate request: the first PEM block.
func readRequest(text []byte) (any, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, fmt.Errorf("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	if err := request.CheckSignature(); err != nil {
		return nil, err
	}
	out := reading{
		"der":           hex.EncodeToString(block.Bytes),
		"commonName":    request.Subject.CommonName,
		"organizations": append([]string{}, request.Subject.Organization...),
		"names":         len(request.Subject.Names),
		"headers":       len(block.Headers),
		"rest":          len(rest),
		"extensions":    len(request.Extensions),
		"altNames": len(request.DNSNames) + len(request.EmailAddresses) + len(request.IPAddresses) +
			len(request.URIs),
		"version": request.Version,
	}
	if key, ok := request.PublicKey.(*ecdsa.PublicKey); ok && key.Curve == elliptic.P256() {
		point, err := key.Bytes()
		if err != nil {
			return nil, err
		}
		out["key"] = hex.EncodeToString(point)
	}
	return out, nil
}
