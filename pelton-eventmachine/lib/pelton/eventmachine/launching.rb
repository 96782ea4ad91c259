# frozen_string_literal: true

# Applications that use EventMachine find its loop running under `pelton serve`, as under Thin: it is the server's
# reactor. Errors of their callbacks are reported, and do not end the server.
Pelton::Integrations.on_launch do
  next if EventMachine.reactor_running?
  Pelton.spawn(detached: true) { EventMachine.run }
  EventMachine.error_handler { |error| Pelton.report_error(error) }
  -> { EventMachine.stop if EventMachine.reactor_running? }
end
