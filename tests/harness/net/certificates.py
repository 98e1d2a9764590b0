"""Certificates for a test's own cluster, made with the openssl program."""

import subprocess


def openssl(*words, stdin=None):
    done = subprocess.run(["openssl", *map(str, words)], input=stdin, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def new_key(path):
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    path.chmod(0o600)
    return path


class Authority:
    """Signs certificates; `folder` holds its key and certificate and what it signs."""

    def __init__(self, folder, name="test-ca"):
        self.folder = folder
        self.key = new_key(folder / f"{name}.key")
        self.certificate = folder / f"{name}.crt"
        openssl("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={name}", "-days", "2", "-out",
                self.certificate, "-addext", "keyUsage=critical,digitalSignature,keyCertSign")

    def sign(self, name, subject, usage, alt_names=()):
        """The paths (certificate, key) of `name`."""
        key = new_key(self.folder / f"{name}.key")
        certificate = self.folder / f"{name}.crt"
        request = openssl("req", "-new", "-key", key, "-subj", subject)
        lines = [f"extendedKeyUsage={usage}", "keyUsage=critical,digitalSignature"]
        if alt_names:
            lines.append("subjectAltName=" + ",".join(alt_names))
        extensions = self.folder / f"{name}.ext"
        extensions.write_text("\n".join(lines) + "\n")
        openssl("x509", "-req", "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-days", "2",
                "-extfile", extensions, "-out", certificate, stdin=request)
        return certificate, key
