"""`python -m trajgrade` is the command."""

from trajgrade.cli.entry import main

if __name__ == "__main__":
    main()
