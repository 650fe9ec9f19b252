"""The existing package imports this for its clients, which no test with this folder on its path uses."""
