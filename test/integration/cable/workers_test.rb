# frozen_string_literal: true

require "test_helper"
require "support/http/serving"
require "support/cable_client"

# `pelton serve -w 2` with a cable: clients of both workers, one of which is killed.
class CableWorkersTest < PeltonTest
  include HttpServing

  self.deadline = 120

  APPLICATION = <<~RUBY
    require "pelton/cable"
    Pelton::PubSub.keep("chat")

    class ChatChannel < Pelton::Cable::Channel
      def subscribed = stream_from("chat")

      def speak(data) = broadcast("chat", data["text"])

      def worker = transmit(Process.pid)
    end

    class RoomChannel < Pelton::Cable::Channel
      def subscribed = track_presence("room", id: params[:id])
    end

    run Pelton::Cable::Server.new
  RUBY

  def test_all_workers_have_the_streams_and_a_client_of_a_dead_one_misses_nothing
    serving_cables do |url|
      clients = connect_to_each_worker(url)
      clients.values.each_with_index { |client, index| client.perform("ChatChannel", "speak", {text: index}) }
      got = clients.transform_values { |client| Array.new(2) { client.receive } }
      assert_equal [[0, 1]], got.values.map { |messages| messages.map { |message| message["message"] }.sort }.uniq
      assert_equal [1, 2], got.values.first.map { |message| message["offset"] }

      dead, (_, living) = clients.to_a.first.first, clients.to_a.last
      Process.kill("KILL", dead)
      living.perform("ChatChannel", "speak", {text: "meanwhile"})
      in_time do
        processes.size == 2 && !processes.include?(dead) && server_stats["workers"].all? { |worker| worker["ready"] }
      end
      # A new process, which has what is kept
      back = connect_to_each_worker(url).fetch((processes - [clients.key(living)]).first)
      position = got[dead].last.slice("epoch", "offset")
      back.send(command: "history", identifier: back.identifier("ChatChannel"), history: {streams: {chat: position}})

      assert_equal "meanwhile", back.receive["message"]
      assert_equal "confirm_history", back.receive["type"]
    end
  end

  # The new one has what the old one kept.
  def test_a_master_that_is_restarted
    serving_cables do |url|
      clients = connect_to_each_worker(url)
      %w[one two].each { |text| clients.values.first.perform("ChatChannel", "speak", {text: text}) }
      seen = clients.values.map(&:receive)
      Process.kill("USR2", @master)
      clients.each_value do |client|
        assert_equal "two", client.receive["message"]
        assert_equal({"type" => "disconnect", "reason" => "server_restart", "reconnect" => true}, client.receive)
        assert_nil client.receive
        assert_equal 1001, client.socket.close_code
      end
      in_time { serving.size == 2 && (serving & clients.keys).empty? }
      back = connect_to_each_worker(url)
      back.each_value do |client|
        client.send(command: "history", identifier: client.identifier("ChatChannel"),
          history: {streams: {chat: seen.first.slice("epoch", "offset")}})
      end
      assert_equal [%w[two confirm_history]] * 2,
        back.values.map { |client|
          Array.new(2) { client.receive.then { |message| message["message"] || message["type"] } }
        }
      back.values.first.perform("ChatChannel", "speak", {text: "after"})
      assert_equal [["after", seen.first["epoch"], 3]] * 2,
        back.values.map { |client| client.receive.values_at("message", "epoch", "offset") }
    end
  end

  def test_the_members_of_a_killed_worker_leave
    serving_cables do |url|
      clients = connect_to_each_worker(url)
      clients.each do |worker, client|
        client.send(command: "subscribe", identifier: client.identifier("RoomChannel", id: worker))
      end
      dead, living = clients.keys
      eventually("both are present") { members(clients[living], living) == [dead, living].map(&:to_s).sort }
      Process.kill("KILL", dead)
      in_time do
        message = clients[living].receive and message.dig("message",
          "type") == "leave" && message.dig("message", "id") == dead.to_s
      end

      assert_equal [living.to_s], members(clients[living], living)
    end
  end

  private

  def members(client, id)
    client.send(command: "presence", identifier: client.identifier("RoomChannel", id: id))
    message = client.receive until message&.dig("message", "type") == "info"
    message["message"]["records"].map { |record| record["id"] }.sort
  end

  def serving_cables
    Dir.mktmpdir do |folder|
      @folder = folder
      port = free_port
      File.write("#{folder}/config.ru", APPLICATION)
      command = [RbConfig.ruby, File.join(PeltonTest::ROOT, "exe/pelton"), "serve", "-w", "2", "-q", "-p", port.to_s,
        "--control", "control"]
      @master = start_program(*command, folder: folder, env: {"RUBYLIB" => Children::LIB}).pid
      in_time { serving.size == 2 }
      Pelton.run do
        yield "ws://127.0.0.1:#{port}/"
      ensure
        Pelton.stop
      end
    ensure
      kill if @master
    end
  end

  # {pid => a client that has subscribed there}
  def connect_to_each_worker(url)
    clients = {}
    in_time do
      client = CableClient::Client.new(url, protocols: [Pelton::Cable::EXTENDED])
      client.receive
      client.subscribe("ChatChannel")
      client.perform("ChatChannel", "worker")
      clients[client.receive["message"]] ||= client
      clients.size == 2
    end
    clients
  end
end
