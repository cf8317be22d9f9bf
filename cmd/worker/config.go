package main

import (
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"antipode/internal/config"
)

// configCommand prints the settings that worker would have with the same flags,
// environment and file. The flags are worker's own.
func configCommand(flags *pflag.FlagSet, bind config.Flags, file *string, stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config [flags]",
		Short: "Print the settings in effect, and where each came from",
		Long: `config prints every setting as YAML, with where its value came from, and does
nothing else. It takes the flags of worker. Secrets are masked, users and
passwords in addresses too.`,
		Example: "  ANTIPODE_SLOTS=4 worker config --nats nats://queue:4222",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.PrintWorker(stdout, cmd.Flags(), bind, *file); err != nil {
				return usageError{err}
			}
			return nil
		},
	}
	cmd.Flags().AddFlagSet(flags)
	return cmd
}
