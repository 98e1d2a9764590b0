"""What stands between a client and a server: raw HTTP, proxies that misbehave, certificates."""
