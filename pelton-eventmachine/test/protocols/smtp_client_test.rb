# frozen_string_literal: true

require_relative "../helper"

class EventMachineSmtpClientTest < EventMachineTest
  # Answers each command with the given reply, or else with success.
  class Server < EM::Connection
    include EM::P::LineText2

    USUAL = {"EHLO" => "250-me\r\n250 OK", "DATA" => "354 Go", "QUIT" => "221 Bye", "." => "250 Accepted",
             "AUTH" => "235 OK"}.freeze

    def initialize(log, answers)
      super()
      @log, @answers = log, answers
    end

    def post_init = send_data("#{@answers.fetch(:greeting, "220 Hello")}\r\n")

    def receive_line(line)
      @log << line
      return if @mail && line != "."
      answer = @answers.fetch(line) { @answers.fetch(line[/\A\S+/]) { USUAL.fetch(line[/\A\S+/], "250 OK") } }
      @mail = line == "DATA" && answer.start_with?("3")
      send_data("#{answer}\r\n")
      close_connection_after_writing if line == "QUIT"
    end
  end

  HEAD = ["EHLO dom", "MAIL FROM: <a@b>", "RCPT TO: <c@d>", "DATA"].freeze

  def setup
    @log = []
  end

  def test_a_mail
    outcome, result = mail(header: {"Subject" => "Hi", "X" => "y"}, body: "line\r\n.dot")

    assert_equal :ok, outcome
    assert_equal 250, result.code
    assert_equal ["Accepted"], result.message
    assert_equal :receive_message_response, result.responder
    assert_kind_of Float, result.elapsed_time
    assert_equal [*HEAD, "Subject: Hi", "X: y", "", "line", "..dot", ".", "QUIT"], @log
  end

  def test_forms_of_a_mail
    [[{message: "A: b\n\nbody\r\n"},
      ["A: b", "", "body"]], [{header: "A: b\r\n", body: %W[1\r\n 2]}, ["A: b", "", "1", "2"]],
      [{header: ["A: b"], body: nil}, ["A: b", "", ""].first(2)],
      [{content: ["A: b\r\n\r\n..x\r\n", ".\r\n"]}, ["A: b", "", "..x"]]].each do |args, lines|
      @log.clear

      assert_equal :ok, mail(**args).first
      assert_equal [*HEAD, *lines, ".", "QUIT"], @log
    end
  end

  def test_authentication
    assert_equal :ok, mail(auth: {type: :plain, username: "u", password: -> { "p" }}, message: "").first
    assert_includes @log, "AUTH PLAIN #{["\0u\0p"].pack("m0")}"
  end

  def test_an_unknown_type_of_authentication
    outcome, result = mail(auth: {type: :other})

    assert_equal :failed, outcome
    assert_equal 900, result.code
    assert_equal "unsupported auth type", result.message
  end

  def test_one_recipient_is_enough
    assert_equal :ok, mail(to: %w[x y], message: "", answers: {"RCPT TO: <x>" => "550 Who?"}).first
    assert_equal [:failed, 550],
      mail(to: %w[x], answers: {"RCPT" => "550 Who?"}).then { |outcome, result| [outcome, result.code] }
  end

  def test_refusals_of_the_server
    {:greeting => :receive_signon, "EHLO" => :receive_ehlo_response, "MAIL" => :receive_mail_from_response,
     "DATA" => :receive_data_response,
     "." => :receive_message_response, "STARTTLS" => :receive_starttls_response}.each do |command, responder|
      outcome, result = mail(message: "", answers: {command => "554-No\r\n554 never"}, starttls: command == "STARTTLS")

      assert_equal :failed, outcome
      assert_equal 554, result.code
      assert_equal %w[No never], result.message
      assert_equal responder, result.responder
    end
  end

  def test_a_command_with_a_line_end_is_refused
    outcome, result = mail(from: "a@b>\r\nRCPT TO: <victim")

    assert_equal :failed, outcome
    assert_equal 900, result.code
    assert_equal ["EHLO dom", "QUIT"], @log
  end

  def test_no_server
    assert_equal :failed, mail(port: free_port).first
  end

  def test_a_line_with_a_dot_does_not_end_the_mail
    mail(message: "a\n.\nb\r.\rc")

    assert_equal [*HEAD, "a", "..", "b", "..", "c", ".", "QUIT"], @log
  end

  def test_between_the_client_and_the_server
    seen = []
    server = Class.new(EM::P::SmtpServer) do
      define_method(:receive_data_chunk) { |lines| seen.concat(lines) }
      define_method(:connection_ended) { EM.stop }
    end
    em do
      EM::P::SmtpClient.send(host: "127.0.0.1", port: serve(server), domain: "x", from: "a", to: "b",
        header: {"A" => "b"}, body: ".c")
    end

    assert_equal ["A: b", "", ".c"], seen
  end

  private

  def mail(answers: {}, **args)
    outcome = nil
    em do
      port = serve(Server, @log, answers)
      mail = EM::P::SmtpClient.send({host: "127.0.0.1", port: port, domain: "dom", from: "a@b", to: "c@d"}.merge(args))
      mail.callback { |result| outcome = [:ok, result] }
      mail.errback { |result| outcome = [:failed, result] }
      EM.add_periodic_timer(0.001) { EM.stop if outcome && (@log.empty? || @log.last == "QUIT") }
    end
    outcome
  end
end
