# frozen_string_literal: true

require "ostruct"

module EventMachine
  module Protocols
    # Sends a mail to a server.
    #
    #     mail = EM::P::SmtpClient.send(domain: "example.com", host: "localhost", from: "a@example.com", to:
    #     ["b@example.com"],
    #       header: {"Subject" => "Hello"}, body: "Not much of interest.")
    #     mail.callback { |result| p result.elapsed_time }.errback { |result| p result.code, result.message }
    #
    # Both get an OpenStruct with the start_time, the elapsed_time (seconds), the code and the message (an Array) of the
    # server's last reply, and the responder, which names the step that was reached. The code 900 is an error on the
    # client's side.
    class SmtpClient < Connection
      include Deferrable
      include LineText2

      # @param args [Hash]
      # @option args [String] :host
      # @option args [Integer] :port 25
      # @option args [String] :domain the client's name
      # @option args [Boolean, Hash] :starttls whether TLS is required; a Hash has options for {Connection#start_tls}
      # @option args [Hash] :auth `{type: :plain, username: String, password: String or Proc}`
      # @option args [String] :from without angle brackets
      # @option args [String, Array<String>] :to without angle brackets; the mail is sent if the server accepts one of
      #   them
      # @option args [String] :message a whole mail; or
      # @option args [Hash, String] :header and
      # @option args [String, Array<String>] :body; or
      # @option args [String, Array<String>] :content the mail in the form in which it is sent: leading dots doubled,
      #   and at the end a line with a single dot
      # @option args [Boolean] :verbose whether to print the server's replies
      # @return [Deferrable]
      def self.send(args = {})
        args[:port] ||= 25
        EventMachine.connect(args[:host], args[:port], self) { |client| client.args = args }
      rescue EventMachine::ConnectionError => error
        DefaultDeferrable.new.tap do |failed|
          EventMachine.next_tick do
            failed.fail(OpenStruct.new(start_time: Time.now, elapsed_time: 0.0, code: 900, message: error.message))
          end
        end
      end

      attr_writer :args

      # @private
      def post_init
        @result = OpenStruct.new(start_time: Time.now)
      end

      # @private
      def connection_completed
        @lines = []
        expect(:receive_signon)
      end

      # @private
      def receive_line(line)
        $stdout.puts(line) if @args[:verbose]
        @lines << line[4..].to_s
        return if line[3] == "-" || @result.code == 900
        @code, @message, @lines = line.to_i, @lines, []
        __send__(@responder)
      end

      # @private
      def unbind(*)
        return if @succeeded
        finish_result
        fail(@result)
      end

      private

      def expect(responder)
        @responder = responder
      end

      def command(line, responder)
        return invoke_internal_error("a command contains a line end: #{line.inspect}") if line.match?(/[\r\n]/)
        expect(responder)
        send_data("#{line}\r\n")
      end

      # @return [Boolean] whether the reply's first digit is this one; any other ends the session
      def answered?(digit)
        return true if @code / 100 == digit
        invoke_error
      end

      def finish_result
        @result.elapsed_time = Time.now - @result.start_time
        @result.responder = @responder
        @result.code ||= @code
        @result.message ||= @message
      end

      # The server refused.
      def invoke_error
        finish_result
        send_data("QUIT\r\n")
        close_connection_after_writing
        false
      end

      # An error on the client's side.
      def invoke_internal_error(message = "???")
        @code, @message = 900, message
        invoke_error
      end

      def receive_signon
        send_ehlo(:receive_ehlo_response) if answered?(2)
      end

      def send_ehlo(responder) = command("EHLO #{@args[:domain]}", responder)

      def receive_ehlo_response
        return unless answered?(2)
        @args[:starttls] ? command("STARTTLS", :receive_starttls_response) : invoke_auth
      end

      def receive_starttls_response
        return unless answered?(2)
        lt2_set_up # bytes that came before TLS may be an attacker's, and are dropped
        start_tls(@args[:starttls].is_a?(Hash) ? @args[:starttls] : {sni_hostname: @args[:host]})
        send_ehlo(:receive_ehlo_over_tls_response)
      end

      def receive_ehlo_over_tls_response
        invoke_auth if answered?(2)
      end

      def invoke_auth
        auth = @args[:auth] or return invoke_mail_from
        return invoke_internal_error("unsupported auth type") unless auth[:type] == :plain
        password = auth[:password]
        password = password.call if password.respond_to?(:call)
        command("AUTH PLAIN #{["\0#{auth[:username]}\0#{password}"].pack("m0")}", :receive_auth_response)
      end

      def receive_auth_response
        invoke_mail_from if answered?(2)
      end

      def invoke_mail_from = command("MAIL FROM: <#{@args[:from]}>", :receive_mail_from_response)

      def receive_mail_from_response
        return unless answered?(2)
        @left, @accepted = Array(@args[:to]).dup, 0
        return invoke_internal_error("no recipient") if @left.empty?
        invoke_rcpt_to
      end

      def invoke_rcpt_to = command("RCPT TO: <#{@left.shift}>", :receive_rcpt_to_response)

      def receive_rcpt_to_response
        @accepted += 1 if @code / 100 == 2
        return invoke_rcpt_to unless @left.empty?
        return invoke_error if @accepted.zero?
        command("DATA", :receive_data_response)
      end

      def receive_data_response
        return unless answered?(3)
        expect(:receive_message_response)
        send_data(
          @args[:content] ? Array(@args[:content]).join : "#{escape_leading_dots(lines_of(mail)).chomp}\r\n.\r\n"
        )
      end

      def receive_message_response
        return unless answered?(2)
        finish_result
        send_data("QUIT\r\n")
        close_connection_after_writing
        @succeeded = true
        succeed(@result)
      end

      def mail
        return @args[:message].to_s if @args[:message]
        [head(@args[:header]), "", Array(@args[:body]).join].compact.join("\r\n")
      end

      def head(header)
        return header&.sub(/[\r\n]+\z/, "") unless header.respond_to?(:map)
        lines = header.map { |name, value| value ? "#{name}: #{value}" : name }
        wrong = lines.find { |line| line.match?(/[\r\n](?![ \t\n])/) } and raise ArgumentError,
          "a header contains a line end: #{wrong.inspect}"
        lines.join("\r\n") unless lines.empty?
      end

      # Some servers take any other line end followed by a dot for the end of the mail.
      def lines_of(text) = text.b.gsub(/\r\n|\r|\n/, "\r\n")

      def escape_leading_dots(text) = text.gsub(/^\./, "..")
    end
  end
end
