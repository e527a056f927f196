"""`python -m jupyter_agentchat.tour`"""

from .main import main

raise SystemExit(main())
