"""How the test went that a fixture belongs to; tests/conftest.py notes it."""


def passed(request):
    report = getattr(request.node, "report_call", None)
    return report is not None and report.passed
