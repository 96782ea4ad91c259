# frozen_string_literal: true

require "fileutils"
require "json"
require "socket"
require_relative "../program"

module Pelton
  module Cluster
    # Listening sockets by their addresses. A program that starts itself again keeps its sockets, and systemd may have
    # opened them before (sd_listen_fds(3)). So no client that connects meanwhile is refused.
    class Sockets
      # The environment variable with addresses and descriptors for the program that follows.
      INHERITED = "PELTON_SOCKETS"
      FIRST_OF_SYSTEMD = 3
      PROGRAM = Program.command(ARGV).freeze # the command line of this program
      BACKLOG = 4096 # connections that wait to be accepted; the system's limit is net.core.somaxconn

      # Opens each address, or takes over its inherited socket.
      #
      # @param addresses [Array<String>] see {Address}
      # @return [Sockets]
      # @raise [ArgumentError] an address is invalid
      # @raise [ResolutionError]
      # @raise [SystemCallError] an address cannot be opened
      def self.open(addresses, environment: ENV)
        inherited = JSON.parse(environment.delete(INHERITED) || "{}").transform_values { |fd| Socket.for_fd(fd) }
        inherited = from_systemd(environment).merge(inherited)
        opened = {}
        addresses.each do |address|
          opened[address] = inherited.delete(address) || inherited.delete(endpoint(address)) || listen(address)
        end
        inherited.each_value(&:close)
        new(opened)
      rescue
        opened&.each_value(&:close)
        raise
      end

      # The sockets by their endpoints: systemd does not name addresses.
      def self.from_systemd(environment)
        return {} unless environment["LISTEN_PID"].to_i == Process.pid
        count = environment["LISTEN_FDS"].to_i
        %w[LISTEN_PID LISTEN_FDS LISTEN_FDNAMES].each { |name| environment.delete(name) }
        Array.new(count) { |i| Socket.for_fd(FIRST_OF_SYSTEMD + i) }.to_h do |socket|
          [endpoint_of(socket.local_address), socket]
        end
      end
      private_class_method :from_systemd

      def self.endpoint_of(address)
        address.unix? ? address.unix_path : address.ip_unpack
      end
      private_class_method :endpoint_of

      # Two addresses of the same socket have the same endpoint.
      def self.endpoint(address)
        endpoint_of(Address.new(address).to_addrinfo)
      end
      private_class_method :endpoint

      def self.listen(address)
        bound(address) { |socket| socket.listen(BACKLOG) }
      end
      private_class_method :listen

      # Tries whether {open} could open an address, without disturbing a server that listens there, or its clients:
      # nothing listens, and no file is made or removed.
      #
      # @return [Symbol] :free, or :in_use when somebody listens there
      # @raise as {open}
      def self.probe(address)
        path = Address.new(address).path
        path ? probe_path(address, path) : bound(address, &:close).then { :free }
      rescue Errno::EADDRINUSE
        raise if path
        :in_use
      end

      def self.probe_path(address, path)
        folder = File.dirname(path)
        raise Errno::ENOENT, "#{address}: there is no folder #{folder}: make it" unless File.directory?(folder)
        unless File.writable?(folder)
          raise Errno::EACCES, "#{address}: this user can make no file in #{folder}: give it to this user"
        end
        Addrinfo.unix(path) # its length
        return :free unless File.exist?(path)
        Socket.unix(path, &:close).then { :in_use }
      rescue Errno::ECONNREFUSED # whoever listened has gone; or it is no socket
        return :free if File.socket?(path)
        raise Errno::EADDRINUSE, "#{address}: there is a file that is not a socket"
      end
      private_class_method :probe_path

      # A socket that is bound to an address. The block gets it, too; where it raises, the socket is closed.
      def self.bound(address)
        info = Address.new(address).to_addrinfo
        remove_abandoned(info.unix_path) if info.unix?
        Socket.new(info.afamily, :STREAM).tap do |socket|
          socket.setsockopt(:SOCKET, :REUSEADDR, true) if info.ip?
          socket.setsockopt(:IPV6, :V6ONLY, true) if info.ipv6? # as in Pelton.listen
          socket.bind(info)
          yield socket
        rescue
          socket.close
          raise
        end
      rescue SystemCallError => error
        raise error.class, "#{address}#{hint(error, info)}"
      end
      private_class_method :bound

      def self.hint(error, info)
        case error
        when Errno::EACCES
          if info.ip? && info.ip_port < 1024
            ": a port below 1024 needs root, CAP_NET_BIND_SERVICE, or a socket that systemd opens"
          end
        when Errno::EADDRINUSE
          if info.unix? && !File.socket?(info.unix_path)
            ": there is a file that is not a socket"
          else
            ": another process listens there"
          end
        when Errno::ENOENT then ": there is no folder #{File.dirname(info.unix_path)}: make it" if info.unix?
        when Errno::EADDRNOTAVAIL then ": this machine has no such address; 0.0.0.0 is all that it has"
        end
      end
      private_class_method :hint

      # Removes a socket file that no process listens on any more.
      def self.remove_abandoned(path)
        return unless File.socket?(path)
        Socket.unix(path).close
      rescue Errno::ECONNREFUSED
        FileUtils.rm_f(path)
      end
      private_class_method :remove_abandoned

      # @return [Array<String>]
      attr_reader :addresses

      def initialize(sockets)
        @sockets = sockets
        @addresses = sockets.keys
      end

      # @return [Socket]
      # @raise [KeyError]
      def [](address) = @sockets.fetch(address)

      # @return [Array<String>] the addresses, with the port that the system chose for port 0
      def places = @sockets.map { |address, socket| address.sub(%r{:0/?\z}) { ":#{socket.local_address.ip_port}" } }

      # Duplicates the descriptor of an address.
      #
      # @return [Integer] which the caller closes
      # @raise [KeyError] the address is unknown
      def descriptor(address) = self[address].dup.tap { |socket| socket.autoclose = false }.fileno

      # Replaces this process by a program that takes over the sockets. Signals that would end the program before it has
      # set its handlers are ignored until then.
      #
      # @param command [Array<String>]
      # @raise [SystemCallError] the program cannot be started
      def exec(command = PROGRAM)
        %w[USR1 USR2 TTIN TTOU HUP].each { |name| Signal.trap(name, "IGNORE") }
        environment, descriptors = for_exec
        Process.exec(environment, *command, descriptors)
      end

      # @return [Array(Hash, Hash)] the environment variables and exec's options for the program that takes over the
      #   sockets
      def for_exec
        descriptors = @sockets.transform_values(&:fileno)
        [{INHERITED => JSON.generate(descriptors)}, descriptors.values.to_h { |fd| [fd, fd] }]
      end

      # Closes the sockets. The paths of UNIX sockets stay.
      def close = @sockets.each_value(&:close)
    end
  end
end
