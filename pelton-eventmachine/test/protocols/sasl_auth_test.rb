# frozen_string_literal: true

require_relative "../helper"

class EventMachineSASLauthTest < EventMachineTest
  class Server
    include EM::P::SASLauth

    attr_reader :asked, :sent

    def validate(*fields)
      (@asked ||= []) << fields
      fields.first == "mickey"
    end

    def send_data(data) = (@sent ||= "".b) << data
  end

  def test_requests_in_any_pieces_are_answered_in_order
    text = "\0\6mickey\0\5mouse\0\4imap\0\0" + "\0\6donald\0\0\0\0\0\3abc"

    [text.size, 1, 5].each do |size|
      server = Server.new
      text.scan(/.{1,#{size}}/m) { |part| server.receive_data(part) }

      assert_equal [["mickey", "mouse", "imap", ""], ["donald", "", "", "abc"]], server.asked
      assert_equal "\0\2OK\0\2NO", server.sent
    end
  end

  def test_every_password_is_wrong_by_default
    refute Class.new { include EM::P::SASLauth }.new.validate("mickey", "mouse", "imap", "")
  end
end
