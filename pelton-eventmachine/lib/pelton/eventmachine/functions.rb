# frozen_string_literal: true

# EventMachine's low-level functions, which return signatures instead of connections. Functions that make sense only
# inside its C extension are missing: add_oneshot_timer, event_callback, initialize_event_machine, release_machine,
# run_machine.
module EventMachine
  class << self
    def connect_server(host, port) = connect(host, port).signature

    def bind_connect_server(bind_address, bind_port, host, port)
      bind_connect(bind_address, bind_port, host, port).signature
    end

    def connect_unix_server(path) = connect_unix_domain(path).signature

    def start_tcp_server(host, port) = start_server(host, port)

    def start_unix_server(path) = start_unix_domain_server(path)

    def attach_fd(number, watch_mode) = attach_io(number, watch_mode).signature

    def attach_sd(number) = attach_server(Socket.for_fd(number).tap { |socket| socket.autoclose = false })

    def open_udp_socket(address, port) = open_datagram_socket(address, port).signature

    def invoke_popen(words) = popen(words.drop(1)).signature

    def read_keyboard = open_keyboard.signature

    def watch_filename(filename) = watch_file(filename).signature

    def watch_pid(pid) = watch_process(pid).signature

    # Does nothing: {next_tick} wakes the loop.
    def signal_loopbreak = nil

    # Does nothing: the loop calls deferred callbacks itself.
    def run_deferred_callbacks = nil
  end
end
