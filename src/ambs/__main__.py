from ambs.cli import run

run()
