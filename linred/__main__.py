"""Run the `linred` command as `python -m linred`."""

from linred.cli.main import main

if __name__ == "__main__":
    main()
