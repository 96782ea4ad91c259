# frozen_string_literal: true

require "json"
require_relative "../helper"

class EventMachineObjectProtocolTest < EventMachineTest
  class Log
    include EM::P::ObjectProtocol

    attr_reader :objects, :sent

    def receive_object(object)
      (@objects ||= []) << object
    end

    def send_data(data)
      (@sent ||= "".b) << data
    end
  end

  def test_objects_in_any_pieces
    objects = [{hello: "world"}, [1, 2.5, nil], "", "\u221A" * 1000]
    sender = Log.new
    objects.each { |object| sender.send_object(object) }

    [sender.sent.size, 1, 3, 5].each do |size|
      log = Log.new
      sender.sent.scan(/.{1,#{size}}/mn) { |part| log.receive_data(part) }

      assert_equal objects, log.objects
    end
  end

  def test_another_serializer
    log = Log.new
    log.define_singleton_method(:serializer) { JSON }
    log.send_object("a" => "\u221A")

    assert_equal "\0\0\0\v{\"a\":\"\u221A\"}".b, log.sent
    log.receive_data(log.sent)

    assert_equal [{"a" => "\u221A"}], log.objects
  end

  def test_between_connections
    seen = []
    server = Module.new do
      include EM::P::ObjectProtocol

      define_method(:receive_object) { |object| send_object("you said" => object) }
    end
    client = Module.new do
      include EM::P::ObjectProtocol

      define_method(:post_init) { send_object(%w[hello]) }
      define_method(:receive_object) { |object| EM.stop.then { seen << object } }
    end
    em { EM.connect("127.0.0.1", serve(server), client) }

    assert_equal [{"you said" => ["hello"]}], seen
  end
end
