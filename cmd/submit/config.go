package main

import (
	"io"

	"github.com/spf13/cobra"

	"antipode/internal/config"
)

// configCommand prints the settings that submit would have with the same flags,
// environment and file.
func configCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the settings in effect, and where each came from",
		Long: `config prints every setting as YAML, with where its value came from, and does
nothing else. Secrets are masked, users and passwords in addresses too.`,
		Example: "  ANTIPODE_OWNER=me submit config --nats nats://queue:4222",
		Args:    cobra.NoArgs,
	}
	from := newSettings(cmd, "address of the NATS server")
	cmd.RunE = func(*cobra.Command, []string) error {
		if err := config.PrintSubmit(stdout, from.flags, from.bind, *from.file); err != nil {
			return &exitError{exitUsage, err}
		}
		return nil
	}
	return cmd
}
