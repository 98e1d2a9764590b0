"""Reads what programs print inside a container."""


def addresses(lines):
    """Interface and IPv4 address of each line of `ip -o addr`, lo left out."""
    found = {}
    for line in lines:
        words = line.split()
        if "inet" in words and words[1] != "lo":
            found[words[1]] = words[words.index("inet") + 1]
    return found
