# frozen_string_literal: true

require "test_helper"
require "pelton/lab/run"
require "pelton/lab/web/cable_servers"

class LabCableServersTest < PeltonTest
  Servers = Pelton::Lab::CableServers

  self.deadline = 60

  def test_the_bare_application_with_two_workers
    Servers.serve(Pelton::Lab::Run.new(size: 1), Servers.pelton("-w", "2"), {"KEEP" => "10"}) do |server, url|
      assert_equal "ws://127.0.0.1:#{server.port}/cable", url
      assert_equal "201", server.post("/broadcast?1", "").code
      assert_equal "426", server.get("/cable").code
    end
  end

  # Each says what it needs, by which a contender is left out where it is not installed.
  def test_the_servers_of_the_lab
    assert_equal ["Puma, Rails", "Pelton, Rails", "AnyCable, Rails"].sort,
      Servers::ALL.keys.grep(/\A(Puma|Pelton|AnyCable), Rails\z/).sort
    Servers::ALL.each do |name, server|
      needs = server.needs
      assert needs[:program] || needs[:gem] || name.start_with?("Pelton"), name
      if name != "node, ws" || Pelton::Lab::Programs.find("node")
        assert_includes server.command.call(1234, "/nowhere").join(" "), "1234", name
      end
    end
  end
end
