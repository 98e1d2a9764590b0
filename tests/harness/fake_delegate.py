#!/usr/bin/python3 -IS
"""A CNI plugin that notes how it was called and does what its configuration says.

The key "fake" of the configuration maps a command (or "*") to what happens:
  gate    path: create <path>.here, then wait until <path> exists
  delay   seconds to take
  result  object to print; stdout / stderr: text to print; bytes: that many bytes on stdout
  exit    exit status
  first   how many calls of that command behave so; later ones simply succeed
  child   true: leave a process behind that keeps our pipes open until the gate <path>.child exists
"""
import json
import os
import sys
import time

FOLDER = "/srv/fake"


def note(entry):
    entry.update(pid=os.getpid(), time=time.monotonic())
    line = json.dumps(entry).encode() + b"\n"
    fd = os.open(FOLDER + "/calls", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    os.write(fd, line)
    os.close(fd)


def count(path):
    """How often this was asked with the same path, this time included."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, b".")
    size = os.fstat(fd).st_size
    os.close(fd)
    return size


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.002)


def descriptors():
    return sorted(int(fd) for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}"))


def behaviour(config, command):
    plan = config.get("fake", {})
    found = plan.get(command, plan.get("*", {}))
    if "first" in found:
        name = f"{FOLDER}/count-{config.get('name', '')}-{command}"
        if count(name) > found["first"]:
            return {}
    return found


def main():
    fds = descriptors()
    text = sys.stdin.read()
    command = os.environ.get("CNI_COMMAND", "")
    note({"event": "begin", "command": command, "env": dict(os.environ), "stdin": text,
          "cwd": os.getcwd(), "fds": fds, "argv0": sys.argv[0], "pgid": os.getpgid(0)})
    try:
        config = json.loads(text)
    except ValueError:
        config = {}
    plan = behaviour(config, command)
    if plan.get("child") and os.fork() == 0:
        wait_for(plan["gate"] + ".child")
        os._exit(0)
    if "gate" in plan and not plan.get("child"):
        open(plan["gate"] + ".here", "w").close()
        wait_for(plan["gate"])
    time.sleep(plan.get("delay", 0))
    if "stderr" in plan:
        sys.stderr.write(plan["stderr"])
    if "bytes" in plan:
        sys.stdout.write("x" * plan["bytes"])
    elif "stdout" in plan:
        sys.stdout.write(plan["stdout"])
    elif "result" in plan:
        json.dump(plan["result"], sys.stdout)
    elif command == "ADD":
        json.dump({"cniVersion": config.get("cniVersion", "0.1.0")}, sys.stdout)
    elif command == "VERSION":
        json.dump({"cniVersion": "1.1.0", "supportedVersions": ["0.4.0", "1.0.0", "1.1.0"]}, sys.stdout)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)  # the reader had enough
    note({"event": "end", "command": command, "exit": plan.get("exit", 0)})
    return plan.get("exit", 0)


sys.exit(main())
