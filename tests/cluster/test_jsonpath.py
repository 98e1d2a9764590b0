"""Our jsonpath and kubectl's, expression by expression, on an object of a real API server (04, 2.4)."""

import json
import subprocess
import uuid

import pytest

GROUP = "test.example"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": f"things.{GROUP}"},
    "spec": {"group": GROUP, "scope": "Cluster",
             "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
THING = {
    "spec": {
        "s": [{"n": "c1", "i": "x<&>", "port": 80, "on": True}, {"n": "c2", "port": 8080, "w": 1.5},
              {"n": "c3", "port": 443, "on": False, "nested": {"deep": ["a", "b"], "n": "inner"}}],
        "a": [3, 1, 2], "empty": [], "none": None, "zero": 0, "neg": -7, "big": 9007199254740993, "f": 2.50,
        "tiny": 0.00001, "huge": 1e21, "text": "line\nbreak \"quoted\" \\ back\u2028x", "blank": "", "yes": True,
        "05-m.conf": "dotted", "with space": "spaced", "o": {"b": {"c": [1, [2, 3]]}, "name": "oname"},
        "matrix": [[1, 2], [3, 4]], "ünï": "code"}}

# What both must print.
TEXTS = r"""
{.spec.text}
{.spec.zero}
{.spec.neg}
{.spec.big}
{.spec.f}
{.spec.tiny}
{.spec.huge}
{.spec.yes}
{.spec.blank}
{.spec.none}
{.spec.empty}
{.spec.a}
{.spec.o}
{.spec.s[0]}
{.spec.matrix}
{.spec.05-m\.conf}
{.spec['05-m.conf']}
{.spec['05-m\.conf']}
{.spec.with\ space}
{.spec.ünï}
{.spec.a[0]}
{.spec.a[-1]}
{.spec.a[]}
{.spec.a[*]}
{.spec.a[:]}
{.spec.a[1:]}
{.spec.a[:2]}
{.spec.a[-2:]}
{.spec.a[0:3:2]}
{.spec.a[::2]}
{.spec.a[1:1]}
{.spec.a[0,2]}
{.spec.a[0, 2]}
{.spec.a[?(@>1)]}
{.spec.a[?(@>=1)]}
{.spec.a.*}
{.spec.matrix[*][0]}
{.spec.matrix[0][*]}
{.spec.s[*].n}
{.spec.s[-1].n}
{.spec.s[*]['n','port']}
{.spec.s[?(@.n=="c2")].port}
{.spec.s[?(@.n=='c2')].port}
{.spec.s[?(@.n!="c2")].n}
{.spec.s[?(@.on)].n}
{.spec.s[?(@.on==true)].n}
{.spec.s[?(@.on==false)].n}
{.spec.s[?(@.port>100)].n}
{.spec.s[?(@.port<=443)].n}
{.spec.s[?(@.nested.deep)].n}
{.spec.s[?(@.n==@.n)].n}
{.spec.s[?(@.i=="x<&>")].n}
{.spec.s[2].nested.deep}
{.spec.s[*].nested.deep[*]}
{.spec.no.such[0].x}
{.spec.s[*].missing}
{..deep}
{..c}
{.spec.o..c}
{.metadata.name}{.spec.o.name}
name={.spec.o.name}, first={.spec.s[0].n};
{.metadata['name']}
{$.spec.o.name}
{@.spec.o.name}
{"text"}{'text'}{"\n\t"}
{"a\"b"}{'it\'s'}
{range .spec.s[*]}{.n}{"\n"}{end}
{range .spec.s[*]}{.n}={.port} {end}done
{range .spec.s[*]}{.n}:{range .nested.deep[*]}{@},{end};{end}
{range .spec.matrix[*]}[{range @[*]}{@} {end}]{end}
{range .spec.s[*]}{.n}
{range .spec.empty[*]}{.x}{end}nothing
{range .spec.missing[*]}{.x}{end}nothing
{range .spec.s[?(@.port>100)]}{.n} {end}
{3}{true}{-1.5}
{.}
{.spec.s[0].n }
{ .spec.o.name }
{.spec.o.name}{" "}{.spec.zero}
""".strip("\n").split("\n")

# What both must refuse, with these words.
ERRORS = [
    ("{.a", "unclosed action"), ("{.a[0", "unterminated array"), ("{.a[?(@.b", "unterminated filter"),
    ("{.a[?(@.b)}", "unclosed array expect ]"), ('{"x', "unterminated quoted string"),
    ("{.spec.a[x]}", "invalid array index x"), ('{.spec.a["x"]}', 'invalid array index "x"'),
    ("{....a}", "invalid multiple recursive descent"), ("{metadata.name}", "unrecognized identifier metadata"),
    ("{end}", "not in range, nothing to end"), ("{=}", "unrecognized character in action"),
    ("{..*}", "unrecognized character in action"),
    ("{.spec.a[3]}", "array index out of bounds: index 3, length 3"),
    ("{.spec.a[0:4]}", "array index out of bounds: index 3, length 3"),
    ("{.spec.a[2:1]}", "starting index 2 is greater than ending index 1"),
    ("{.spec.a[0:2:0]}", "step must be > 0"), ("{.spec.text[0]}", "is not array or slice"),
    ("{.spec.o[*]}", "map[string]interface {} is not array or slice"),
    ("{.spec.s[?(@.n==1)].n}", "incompatible types for comparison"),
]


@pytest.fixture(scope="module")
def thing(cluster):
    cluster.apply(CRD)
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=120s", f"crd/things.{GROUP}")
    name = f"thing-{uuid.uuid4().hex[:8]}"
    cluster.apply({"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": name}, **THING})
    yield name
    cluster.kubectl("delete", f"things.{GROUP}", name)


def kubectl(cluster, thing, template):
    """(text, error) as kubectl has them."""
    done = subprocess.run([cluster.binaries["kubectl"], f"--kubeconfig={cluster.kubeconfig}", "get", f"things.{GROUP}",
                           thing, "-o", f"jsonpath={template}"], capture_output=True, text=True,
                          env={"HOME": str(cluster.folder), "PATH": "/usr/bin:/bin"})
    return (done.stdout, None) if done.returncode == 0 else (None, done.stderr)


@pytest.fixture(scope="module")
def ours(cluster, tools, thing):
    """What we make of the same object, by template."""
    text = cluster.kubectl("get", "--raw", f"/apis/{GROUP}/v1/things/{thing}")
    templates = TEXTS + [template for template, _ in ERRORS]
    done = subprocess.run([tools / "jsonpath-probe", *templates], input=text, capture_output=True, text=True, check=True)
    return dict(zip(templates, json.loads(done.stdout)))


@pytest.mark.spec("04:93")
@pytest.mark.parametrize("template", TEXTS)
def test_text(cluster, thing, ours, template):
    expected, refused = kubectl(cluster, thing, template)

    assert refused is None, refused
    assert ours[template] == {"text": expected}


@pytest.mark.spec("04:93")
@pytest.mark.parametrize("template,words", ERRORS)
def test_error(cluster, thing, ours, template, words):
    _, refused = kubectl(cluster, thing, template)

    assert refused is not None and words in refused
    assert words in ours[template]["error"]
