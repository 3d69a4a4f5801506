from postroom.cli.main import run

run()
