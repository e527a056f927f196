"""Chats with coding agents for JupyterLab: the two entry points Jupyter calls, and the version.

Importing this package must not import the server: kernels and agent programs import it too.
"""

from ._version import __version__

__all__ = ["__version__"]


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    """Tell jupyter_server which application to load."""
    from .extension import AgentChatApp

    return [{"module": "jupyter_agentchat", "app": AgentChatApp}]


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    """Tell `jupyter-builder develop` where the built front end lies and what it is called."""
    return [{"src": "labextension", "dest": "jupyter-agentchat"}]
