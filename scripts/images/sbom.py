"""A software bill of materials as SPDX 2.3: the image, our programs, and every package that is in them."""

import hashlib
import json


def _id(kind, name):
    return "SPDXRef-" + kind + "-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in name)


def _described(kind, name, version, licence, reference, **more):
    return {"SPDXID": _id(kind, name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": reference}]}


def _debian(package):
    return _described("Package", package.name, package.version, package.licence,
                      f"pkg:deb/debian/{package.name}@{package.version}?arch=source", supplier="Organization: Debian")


def _program(path, content):
    return {"SPDXID": _id("File", path.strip("/")), "fileName": "." + path, "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def document(name, version, created, architecture, programs, packages, modules=()):
    """Bytes. `programs`: content by path; `packages`: parts.Package; `modules`: plugins.Linked."""
    image = _described("Image", name, version, "NOASSERTION", f"pkg:oci/{name}@{version}?arch={architecture}")
    own = _described("Package", "multus-cpp", version, "Apache-2.0", f"pkg:generic/multus-cpp@{version}")
    inside = [own, *(_debian(one) for one in packages),
              *(_described("Module", f"{one.name}@{one.version}", one.version, one.licence,
                           f"pkg:golang/{one.name}@{one.version}") for one in modules)]
    files = [_program(path, content) for path, content in sorted(programs.items())]
    contents = hashlib.sha256(json.dumps([inside, files], sort_keys=True).encode()).hexdigest()
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{contents}",
        "creationInfo": {"created": created, "creators": ["Tool: multus-cpp-scripts-image"]},
        "packages": [image, *inside], "files": files,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": image["SPDXID"]},
            *({"spdxElementId": image["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": one["SPDXID"]}
              for one in [*inside, *files])]}, indent=1).encode() + b"\n"
