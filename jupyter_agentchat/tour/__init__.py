"""The guided tour: a small real agent program that needs no account."""
