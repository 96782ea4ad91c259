# frozen_string_literal: true

module EventMachine
  module Protocols
    # A mail server. A subclass overrides the methods of the last group to decide about mails and to store them.
    #
    #     class Server < EM::P::SmtpServer
    #       def receive_recipient(address) = address.end_with?("@example.com>")
    #
    #       def receive_data_chunk(lines)
    #         (@mail ||= []).concat(lines)
    #         true
    #       end
    #
    #       def receive_message
    #         deliver(@mail)
    #         true
    #       end
    #     end
    #     Server.parms = {auth: :required}
    #     EM.start_server("0.0.0.0", 25, Server)
    class SmtpServer < Connection
      include LineText2

      # standard:disable Naming/ConstantName -- EventMachine's names
      HeloRegex = /\AHELO\s*/i
      EhloRegex = /\AEHLO\s*/i
      QuitRegex = /\AQUIT/i
      MailFromRegex = /\AMAIL FROM:\s*/i
      RcptToRegex = /\ARCPT TO:\s*/i
      DataRegex = /\ADATA/i
      NoopRegex = /\ANOOP/i
      RsetRegex = /\ARSET/i
      VrfyRegex = /\AVRFY\s+/i
      ExpnRegex = /\AEXPN\s+/i
      HelpRegex = /\AHELP/i
      StarttlsRegex = /\ASTARTTLS/i
      AuthRegex = /\AAUTH\s+/i
      # standard:enable Naming/ConstantName

      # The longest mail, in bytes. The server announces it, and refuses a longer one.
      SIZE = 20_000_000

      COMMANDS = {
        EhloRegex => :process_ehlo, HeloRegex => :process_helo, MailFromRegex => :process_mail_from,
        RcptToRegex => :process_rcpt_to,
        DataRegex => :process_data, RsetRegex => :process_rset, VrfyRegex => :process_vrfy, ExpnRegex => :process_expn,
        HelpRegex => :process_help, QuitRegex => :process_quit, NoopRegex => :process_noop,
        StarttlsRegex => :process_starttls,
        AuthRegex => :process_auth
      }.freeze
      WITH_ARGUMENT = %i[process_ehlo process_helo process_mail_from process_rcpt_to process_auth].freeze
      private_constant :COMMANDS, :WITH_ARGUMENT

      @parms = {chunksize: 4000, verbose: false}

      class << self
        # Sets defaults for this class and its subclasses:
        #
        # - `:chunksize`, the number of lines for {#receive_data_chunk}; `:verbose`, whether to print the client's
        #   commands
        # - `:starttls` and `:auth`: true offers it, :required demands it
        # - `:starttls_options`, options for {Connection#start_tls}, such as the certificate
        def parms=(parms)
          (@parms ||= {}).merge!(parms)
        end

        # @private
        def parms = superclass.respond_to?(:parms) ? superclass.parms.merge(@parms || {}) : @parms.dup
      end

      def initialize(*)
        super
        @parms = self.class.parms
        init_protocol_state
      end

      # Sets parameters for this connection alone.
      def parms=(parms)
        @parms.merge!(parms)
      end

      # Waits for the next tick, so that the block of start_server can set parms before the greeting.
      # @private
      def post_init = EventMachine.next_tick { send_server_greeting }

      # @private
      def receive_line(line)
        return @waiting_lines << line if @waiting_lines
        $stdout.puts(">>> #{line}") if @parms[:verbose]
        return process_data_line(line) if @state.include?(:data)
        return process_auth_line(line) if @state.include?(:auth_incomplete)
        pattern, method = COMMANDS.find { |command, _| line.match?(command) }
        return process_unknown unless method
        WITH_ARGUMENT.include?(method) ? __send__(method, line.sub(pattern, "").dup) : __send__(method)
      end

      # @private
      def unbind(*) = connection_ended

      # @!group For subclasses to override

      # @return [String] the greeting
      def get_server_greeting = "EventMachine SMTP Server"

      # @return [String] the server's name
      def get_server_domain = "Ok EventMachine SMTP Server"

      # @return [Boolean] whether the client is accepted
      def receive_ehlo_domain(domain) = true

      # @return [Boolean] whether the password is right
      def receive_plain_auth(user, password) = true

      # @param sender [String] with the angle brackets
      # @return [Boolean, Deferrable] whether the sender is accepted
      def receive_sender(sender) = true

      # @param recipient [String] with the angle brackets
      # @return [Boolean, Deferrable] whether the recipient is accepted
      def receive_recipient(recipient) = true

      # Called when the client has abandoned this mail.
      def receive_reset
      end

      # Called when the connection has ended.
      def connection_ended
      end

      # @return [Boolean, Deferrable] whether the client may send the mail now
      def receive_data_command = true

      # @param lines [Array<String>] the next lines of the mail; copy the Array to keep it, because it is used again
      def receive_data_chunk(lines) = true

      # Called when the mail is complete.
      #
      # @return [Boolean, Deferrable] whether the mail is accepted
      def receive_message = true

      # Called when the next mail may begin.
      def receive_transaction
      end

      # @!endgroup

      private

      def reply(line) = send_data("#{line}\r\n")

      def send_server_greeting = reply("220 #{get_server_greeting}")

      # Continues when the decision is known. Commands that arrive meanwhile are kept, because they may depend on it.
      def decide(answer, refusal)
        unless answer.respond_to?(:callback) && answer.respond_to?(:errback)
          return answer ? yield : reply(refusal)
        end
        @waiting_lines = []
        pause
        answer.callback { decided { yield } }
        answer.errback { decided { reply(refusal) } }
      end

      def decided
        lines, @waiting_lines = @waiting_lines, nil
        resume
        yield
        lines.each { |line| receive_line(line) }
      end

      # Forgets the mail. TLS and the client's greeting stay.
      def init_protocol_state
        @state = (@state || []) & %i[starttls ehlo]
      end

      def reset_protocol_state
        init_protocol_state
        receive_transaction
      end

      def process_ehlo(domain)
        return reply("550 Requested action not taken") unless receive_ehlo_domain(domain)
        reset_protocol_state
        reply("250-#{get_server_domain}")
        reply("250-STARTTLS") if @parms[:starttls] && !@state.include?(:starttls)
        reply("250-AUTH PLAIN") if @parms[:auth]
        reply("250-NO-SOLICITING")
        reply("250 SIZE #{SIZE}")
        @state |= [:ehlo]
      end

      def process_helo(domain)
        return reply("550 Requested action not taken") unless receive_ehlo_domain(domain)
        reset_protocol_state
        reply("250 #{get_server_domain}")
        @state |= [:ehlo]
      end

      def process_quit
        reply("221 Ok")
        close_connection_after_writing
      end

      def process_noop = reply("250 Ok")

      def process_help = reply("250 Ok, but unimplemented")

      def process_vrfy = reply("502 Command not implemented")

      def process_expn = reply("502 Command not implemented")

      def process_unknown = reply("500 Unknown command")

      def process_rset
        reset_protocol_state
        receive_reset
        reply("250 Ok")
      end

      def process_starttls
        return process_unknown unless @parms[:starttls]
        return reply("503 TLS Already negotiated") if @state.include?(:starttls)
        return reply("503 EHLO required before STARTTLS") unless @state.include?(:ehlo)
        reply("220 Start TLS negotiation")
        lt2_set_up # bytes that came before TLS may be an attacker's, and are dropped
        start_tls(@parms[:starttls_options] || {})
        @state = [:starttls]
      end

      def process_auth(argument)
        return reply("503 auth already issued") if @state.include?(:auth)
        case argument
        when /\APLAIN\s*\z/i
          reply("334 ")
          @state |= [:auth_incomplete]
        when /\APLAIN\s+/i then process_auth_line($')
        else reply("504 auth mechanism not available")
        end
      end

      def process_auth_line(line)
        @state -= [:auth_incomplete]
        _, user, password = line.unpack1("m").split("\0", 3)
        return reply("535 invalid authentication") unless receive_plain_auth(user.to_s, password.to_s)
        reply("235 authentication ok")
        @state |= [:auth]
      end

      def process_mail_from(sender)
        if @parms[:starttls] == :required && !@state.include?(:starttls)
          return reply("550 This server requires STARTTLS before MAIL FROM")
        end
        if @parms[:auth] == :required && !@state.include?(:auth)
          return reply("550 This server requires authentication before MAIL FROM")
        end
        return reply("503 MAIL already given") if @state.include?(:mail_from)
        decide(receive_sender(sender), "550 sender is unacceptable") { (@state |= [:mail_from]) && reply("250 Ok") }
      end

      def process_rcpt_to(recipient)
        return reply("503 MAIL is required before RCPT") unless @state.include?(:mail_from)
        decide(receive_recipient(recipient), "550 recipient is unacceptable") { (@state |= [:rcpt]) && reply("250 Ok") }
      end

      def process_data
        return reply("503 Operation sequence error") unless @state.include?(:rcpt)
        decide(receive_data_command, "550 Operation failed") do
          @state |= [:data]
          @lines, @bytes = [], 0
          reply("354 Send it")
        end
      end

      def process_data_line(line)
        return end_data if line == "."
        @bytes += line.bytesize + 2
        return @lines.clear if @bytes > SIZE
        @lines << line.delete_prefix(".")
        deliver_lines if @lines.size >= @parms[:chunksize]
      end

      def deliver_lines
        receive_data_chunk(@lines)
        @lines.clear
      end

      def end_data
        @state -= %i[data mail_from rcpt]
        return reply("552 Message is longer than #{SIZE} bytes").tap { receive_transaction } if @bytes > SIZE
        deliver_lines unless @lines.empty?
        answer = receive_message
        decide(answer, "550 Message rejected") { reply("250 Message accepted") }
        receive_transaction
      end
    end
  end
end
