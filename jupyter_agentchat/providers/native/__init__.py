"""Agents that speak our own line protocol: the tour, test agents, third parties."""
