"""`python -m linred` is the `linred` command."""

from linred.cli.main import main

if __name__ == "__main__":
    main()
