# frozen_string_literal: true

require_relative "../helper"

class EventMachineSmtpServerTest < EventMachineTest
  # Records the calls, and returns the given answers.
  class Server < EM::P::SmtpServer
    class << self
      attr_accessor :log, :answers
    end

    %i[receive_ehlo_domain receive_plain_auth receive_sender receive_recipient receive_data_command receive_message
      receive_transaction receive_reset connection_ended].each do |name|
      define_method(name) do |*arguments|
        self.class.log << [name, *arguments]
        answer = self.class.answers.fetch(name) { super(*arguments) }
        answer.respond_to?(:call) ? answer.call : answer
      end
    end

    def receive_data_chunk(lines)
      self.class.log << [:lines, *lines]
      true
    end
  end

  LATER =
    ->(outcome) { -> { EM::DefaultDeferrable.new.tap { |answer| EM.add_timer(0.005) { answer.__send__(outcome) } } } }

  def setup
    Server.log = []
    Server.answers = {}
  end

  def test_a_mail
    assert_equal ["220 EventMachine SMTP Server", "250-Ok EventMachine SMTP Server", "250-NO-SOLICITING",
      "250 SIZE 20000000",
      "250 Ok", "250 Ok", "354 Send it", "250 Message accepted", "221 Ok"],
      talk("EHLO me", "MAIL FROM:<a@b>", "rcpt to: <c@d>", "DATA", "Subject: x", "", "..dot", ".", "QUIT")
    assert_equal [[:receive_ehlo_domain, "me"], [:receive_transaction], [:receive_sender, "<a@b>"],
      [:receive_recipient, "<c@d>"],
      [:receive_data_command], [:lines, "Subject: x", "", ".dot"], [:receive_message], [:receive_transaction],
      [:connection_ended]], Server.log
  end

  def test_the_order_of_commands
    assert_equal ["503 MAIL is required before RCPT", "503 Operation sequence error", "250 Ok",
      "503 MAIL already given",
      "503 Operation sequence error", "250 Ok", "250 Ok", "503 MAIL is required before RCPT"],
      answers("RCPT TO:<a>", "DATA", "MAIL FROM:<a>", "MAIL FROM:<b>", "DATA", "RCPT TO:<c>", "RSET", "RCPT TO:<c>")
    assert_includes Server.log, [:receive_reset]
  end

  def test_other_commands
    assert_equal ["250 Ok EventMachine SMTP Server", "250 Ok", "502 Command not implemented",
      "502 Command not implemented",
      "250 Ok, but unimplemented", "500 Unknown command", "500 Unknown command"],
      answers("HELO x", "NOOP", "VRFY x", "EXPN y", "HELP", "nonsense", "STARTTLS")
  end

  def test_refusals_of_a_subclass
    {receive_ehlo_domain: "550 Requested action not taken", receive_sender: "550 sender is unacceptable",
     receive_recipient: "550 recipient is unacceptable", receive_data_command: "550 Operation failed",
     receive_message: "550 Message rejected"}.each do |method, answer|
      assert_includes answers("EHLO x", "MAIL FROM:<x>", "RCPT TO:<x>", "DATA", "a", ".", calls: {method => false}),
        answer
    end
  end

  def test_a_subclass_may_decide_later
    later = {receive_sender: LATER[:succeed], receive_recipient: LATER[:succeed],
             receive_data_command: LATER[:succeed], receive_message: LATER[:fail]}

    assert_equal ["250 Ok", "250 Ok", "354 Send it", "550 Message rejected", "250 Ok"],
      answers("MAIL FROM:<x>", "RCPT TO:<x>", "DATA", "a", ".", "NOOP", calls: later)
    assert_includes Server.log, [:lines, "a"]
  end

  def test_authentication
    assert_equal ["550 This server requires authentication before MAIL FROM", "504 auth mechanism not available",
      "334 ",
      "235 authentication ok", "503 auth already issued", "250 Ok"],
      answers("MAIL FROM:<a>", "AUTH LOGIN", "AUTH PLAIN", ["\0me\0secret"].pack("m0"), "AUTH PLAIN x",
        "MAIL FROM:<a>", parms: {auth: :required})
    assert_includes Server.log, [:receive_plain_auth, "me", "secret"]
  end

  def test_a_wrong_password
    assert_equal ["535 invalid authentication", "535 invalid authentication"],
      answers("AUTH PLAIN #{["\0me\0x"].pack("m0")}", "AUTH PLAIN !", parms: {auth: true},
        calls: {receive_plain_auth: false})
  end

  def test_tls_may_be_required
    assert_equal ["503 EHLO required before STARTTLS", "250-Ok EventMachine SMTP Server", "250-STARTTLS",
      "250-NO-SOLICITING",
      "250 SIZE 20000000", "550 This server requires STARTTLS before MAIL FROM"],
      answers("STARTTLS", "EHLO x", "MAIL FROM:<a>", parms: {starttls: :required})
  end

  def test_bytes_that_came_before_tls_are_dropped
    said = talk("EHLO x", "STARTTLS", "MAIL FROM:<injected>", parms: {starttls: true},
      until_text: "220 Start TLS negotiation\r\n")

    assert_equal "220 Start TLS negotiation", said.last
    refute_includes Server.log.map(&:first), :receive_sender
  end

  def test_a_mail_under_tls
    server = Class.new(Server)
    server.log, server.answers = [], {}
    server.parms = {starttls: :required}
    em do
      mail =
        EM::P::SmtpClient.send(host: "127.0.0.1", port: serve(server), domain: "x", from: "a", to: "b",
          body: "secret", starttls: true)
      mail.callback { EM.stop }
      mail.errback { |result| raise result.message.inspect }
    end

    assert_equal 2, server.log.count([:receive_ehlo_domain, "x"])
    assert_includes server.log, [:lines, "", "secret"]
  end

  def test_lines_come_in_chunks
    answers("MAIL FROM:<x>", "RCPT TO:<x>", "DATA", "1", "2", "3", ".", parms: {chunksize: 2})

    assert_equal [[:lines, "1", "2"], [:lines, "3"]], Server.log.select { |name,| name == :lines }
  end

  def test_a_mail_beyond_the_limit_is_refused
    line = "x" * 1_000_000

    assert_includes answers("MAIL FROM:<x>", "RCPT TO:<x>", "DATA", *[line] * 21, "."),
      "552 Message is longer than 20000000 bytes"
    refute_includes Server.log, [:receive_message]
  end

  def test_the_block_of_start_server_comes_before_the_greeting
    greeting = nil
    em do
      port = serve(Server) { |server| server.define_singleton_method(:get_server_greeting) { "welcome" } }
      EM.connect("127.0.0.1", port, handler(receive_data: ->(data) { EM.stop.then { greeting = data } }))
    end

    assert_equal "220 welcome\r\n", greeting
  ensure
    Server.log.clear
  end

  private

  # Sends all lines at once, and returns the server's replies.
  def talk(*lines, parms: {}, calls: {}, until_text: "221 Ok\r\n")
    Server.answers = calls
    Server.log.clear
    text = +""
    client = handler(
      post_init: -> { lines.each { |line| send_data("#{line}\r\n") } },
      receive_data: lambda { |data|
        text << data
        close_connection if text.end_with?(until_text)
      },
      unbind: -> { EM.add_timer(0.01) { EM.stop } }
    )
    em { EM.connect("127.0.0.1", serve(Server) { |server| server.parms = parms }, client) }
    text.split("\r\n")
  end

  # As {#talk}, without the greeting and the reply to QUIT.
  def answers(*lines, **options) = talk(*lines, "QUIT", **options)[1..-2]
end
