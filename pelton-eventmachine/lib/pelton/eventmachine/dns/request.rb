# frozen_string_literal: true

require "ipaddr"
require "resolv"
require "securerandom"
require "socket"
require_relative "../dns"

module EventMachine
  module DNS
    # A lookup, in a separate task. It asks by UDP, and by TCP if the answer is too long for a datagram.
    class Request
      include Deferrable

      PORT = 53
      HEADER_SIZE = 12
      ADDRESSES = [Resolv::DNS::Resource::IN::A, Resolv::DNS::Resource::IN::AAAA].freeze
      private_constant :PORT, :HEADER_SIZE, :ADDRESSES

      # The name server's answer was an error.
      class Refused < StandardError
      end
      private_constant :Refused

      # @return [Numeric] seconds to wait for an answer before the next attempt
      attr_accessor :retry_interval
      # @return [Integer] attempts in all
      attr_accessor :max_tries

      # @raise [ArgumentError] when the argument cannot be a name
      def initialize(resolver, hostname)
        Resolv::DNS::Name.create(hostname) # raises when it is no name
        @resolver, @hostname = resolver, hostname.to_s.downcase.delete_suffix(".")
        @retry_interval, @max_tries = 3, 5
        EventMachine.next_tick { ::Pelton.spawn(detached: true) { look_up } }
      end

      private

      # The loop calls the callbacks, so that their errors are handled like those of other callbacks.
      def look_up
        addresses = known || asked
        EventMachine.next_tick { succeed(addresses) }
      rescue Refused, SystemCallError, SocketError, ::Pelton::Error, Resolv::DNS::DecodeError => error
        EventMachine.next_tick { fail(error.message) }
      end

      def known
        IPAddr.new(@hostname) && [@hostname]
      rescue IPAddr::Error
        @resolver.hosts[@hostname]
      end

      def asked
        refusal = nil
        @resolver.names(@hostname).each do |name|
          ADDRESSES.each do |type|
            addresses = addresses_in(ask(name, type), type)
            return addresses unless addresses.empty?
          end
          raise Refused, "rcode=0"
        rescue Refused => refusal
          next
        end
        raise refusal
      end

      # Asks one server after the other.
      def ask(name, type)
        servers = @resolver.nameservers.shuffle.cycle
        failure = nil
        @max_tries.times do
          answer = ask_server(servers.next, name, type) or next
          return answer if answer.rcode == Resolv::DNS::RCode::NoError
          failure = Refused.new("rcode=#{answer.rcode}")
          raise failure unless answer.rcode == Resolv::DNS::RCode::ServFail && @resolver.nameservers.size > 1
        rescue SystemCallError => failure
          raise if @resolver.nameservers.size == 1 && !failure.is_a?(Errno::ECONNREFUSED)
        end
        raise failure || Refused.new("retries exceeded")
      end

      def ask_server(server, name, type)
        address = address_of(server)
        question = Resolv::DNS::Message.new(SecureRandom.random_number(0x10000))
        question.rd = 1
        question.add_question(Resolv::DNS::Name.create("#{name}."), type)
        socket = UDPSocket.new(address.afamily)
        socket.connect(address.ip_address, address.ip_port) # so that datagrams from elsewhere are dropped
        socket.send(question.encode, 0)
        answer = receive(socket, question) or return
        (answer.tc == 1) ? ask_by_tcp(address, question) : answer
      ensure
        socket&.close
      end

      def receive(socket, question)
        limit = EventMachine.current_time + @retry_interval
        while (left = limit - EventMachine.current_time) > 0 && socket.wait_readable(left)
          data = socket.recv_nonblock(65_535, exception: false)
          answer = decode(data, question) unless data == :wait_readable
          return answer if answer
        end
      end

      # @return [Resolv::DNS::Message, nil] nil when the datagram is no answer to the question
      def decode(data, question)
        answer = Resolv::DNS::Message.decode(data)
        return answer if answer.qr == 1 && answer.id == question.id && answer.question == question.question
        answer if answer.tc == 1 && truncated?(data, question)
      rescue Resolv::DNS::DecodeError
        nil
      end

      # Newer versions of resolv decode only the number of a truncated answer.
      def truncated?(data, question)
        number, flags = data.unpack("nn")
        asked = question.encode.byteslice(HEADER_SIZE..)
        number == question.id && flags.anybits?(0x8000) && data.byteslice(HEADER_SIZE, asked.bytesize).casecmp?(asked)
      end

      def ask_by_tcp(address, question)
        data = question.encode
        stream = ::Pelton.connect(address.ip_address, address.ip_port, timeout: @retry_interval)
        stream.write([data.bytesize].pack("n") << data)
        size = stream.read(2, timeout: @retry_interval).unpack1("n")
        decode(stream.read(size, timeout: @retry_interval), question)
      ensure
        stream&.close
      end

      def addresses_in(answer, type)
        answer.answer.filter_map { |_, _, data| data.address.to_s if data.instance_of?(type) }.uniq
      end

      def address_of(server)
        host, port = server.match(/\A\[(.+)\]:(\d+)\z|\A([^:]+):(\d+)\z/)&.captures&.compact
        Addrinfo.udp(host || server.delete("[]"), Integer(port || PORT))
      end
    end
  end
end
