package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"antipode/internal/config"
	"antipode/internal/metrics"
)

// probeTime bounds the question whether a worker is ready.
const probeTime = 4 * time.Second

// healthyCommand asks the worker that runs with the same settings.
func healthyCommand(file *string, stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "healthy",
		Short: "Ask the worker on this host whether it is ready",
		Long: `healthy asks the worker that runs on this host with the same http.listen whether it
takes chunks, for the health check of a container. Exit status: 0 it does; 1 it does
not, for the reason that is printed, or nobody answers; 2 usage or configuration.`,
		Example: "  ANTIPODE_HTTP_LISTEN=:9090 worker healthy",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.LoadWorker(cmd.Flags(), nil, *file)
			if err != nil {
				return usageError{err}
			}
			if cfg.HTTP.Listen == "" {
				return usageError{errors.New("nowhere to ask; set http.listen, or ANTIPODE_HTTP_LISTEN, for the worker and for this")}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), probeTime)
			defer cancel()
			if err := metrics.Probe(ctx, cfg.HTTP.Listen); err != nil {
				return &runError{err}
			}
			_, err = fmt.Fprintln(stdout, "ready")
			return err
		},
	}
}
