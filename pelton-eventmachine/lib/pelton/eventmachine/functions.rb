# frozen_string_literal: true

# EventMachine's low-level functions, which return signatures instead of connections. Functions that make sense only
# inside its C extension are missing: add_oneshot_timer, event_callback, initialize_event_machine, release_machine,
# run_machine.
module EventMachine
  class << self
    # As {connect}, with a plain {Connection} as the handler.
    #
    # @return [Integer] the connection's signature
    def connect_server(host, port) = connect(host, port).signature

    # As {bind_connect}, with a plain {Connection} as the handler.
    #
    # @return [Integer] the connection's signature
    def bind_connect_server(bind_address, bind_port, host, port)
      bind_connect(bind_address, bind_port, host, port).signature
    end

    # As {connect_unix_domain}, with a plain {Connection} as the handler.
    #
    # @return [Integer] the connection's signature
    def connect_unix_server(path) = connect_unix_domain(path).signature

    # As {start_server}, with a plain {Connection} as the handler.
    #
    # @return [Integer] the server's signature
    def start_tcp_server(host, port) = start_server(host, port)

    # As {start_unix_domain_server}, with a plain {Connection} as the handler.
    #
    # @return [Integer] the server's signature
    def start_unix_server(path) = start_unix_domain_server(path)

    # As {attach_io}, by the number of a descriptor.
    #
    # @return [Integer] the connection's signature
    def attach_fd(number, watch_mode) = attach_io(number, watch_mode).signature

    # As {attach_server}, by the number of a listening socket's descriptor, which stays the caller's.
    #
    # @return [Integer] the server's signature
    def attach_sd(number) = attach_server(Socket.for_fd(number).tap { |socket| socket.autoclose = false })

    # As {open_datagram_socket}, with a plain {Connection} as the handler.
    #
    # @return [Integer] the socket's signature
    def open_udp_socket(address, port) = open_datagram_socket(address, port).signature

    # As {popen}. The first word is skipped, because EventMachine gives the program's name twice.
    #
    # @param words [Array<String>]
    # @return [Integer] the connection's signature
    def invoke_popen(words) = popen(words.drop(1)).signature

    # As {open_keyboard}, with a plain {Connection} as the handler.
    #
    # @return [Integer] the connection's signature
    def read_keyboard = open_keyboard.signature

    # As {watch_file}, with a plain {FileWatch} as the handler.
    #
    # @return [Integer] the watch's signature
    def watch_filename(filename) = watch_file(filename).signature

    # As {watch_process}, with a plain {ProcessWatch} as the handler.
    #
    # @return [Integer] the watch's signature
    def watch_pid(pid) = watch_process(pid).signature

    # Does nothing: {next_tick} wakes the loop.
    def signal_loopbreak = nil

    # Does nothing: the loop calls deferred callbacks itself.
    def run_deferred_callbacks = nil
  end
end
