// The subcommands, in the order in which help lists them. One line here and one cmd_*.c add a
// subcommand to the parser, --help, the man page and the shell completions.
COMMAND(run)
COMMAND(solve)
COMMAND(bench)
COMMAND(dataset)
COMMAND(report)
COMMAND(check)
COMMAND(profile)
COMMAND(heatmap)
COMMAND(verify)
COMMAND(import)
COMMAND(list)
COMMAND(serve)
