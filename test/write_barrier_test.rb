# frozen_string_literal: true

require_relative "test_helper"

# Streams and HTTP connections call a write barrier for each new reference: otherwise a minor collection would free the object.
# Ruby checks for missing barriers (and ends the process), in the middle of everything that such an object may do.
class WriteBarrierTest < PeltonTest
  PROGRAM = <<~'RUBY'
    require "pelton/http"

    looks = Random.new(1)
    look = lambda do
      GC.start(full_mark: false) if looks.rand(5) == 0 # so that objects become old
      GC.verify_internal_consistency if looks.rand(40) == 0
    end
    count = 0
    app = lambda do |env|
      look.call
      case (count += 1) % 6
      when 0
        Pelton.add_timer(0.001) { env["async.callback"].call([200, {}, ["x" * 20_000]]) }
        [-1, {}, []]
      when 1 then [200, {}, ->(stream) { 5.times { stream.write("y" * 30_000) && look.call } && stream.close }]
      when 2
        env["rack.response_finished"] << ->(*) { look.call }
        sleep 0.001
        [200, {"a" => "b"}, Enumerator.new { |parts| 3.times { (parts << "z" * 100) && look.call && sleep(0.0003) } }]
      when 3
        env["rack.early_hints"].call("link" => "x")
        [200, {"content-length" => "100000"}, ["w" * 100_000]]
      else
        env["async.close"].callback { look.call }
        sleep 0.0002
        look.call
        [200, {}, ["hello", env["REMOTE_ADDR"]]]
      end
    end
    Pelton.run do
      server = Pelton::HTTP::Server.new(app, early_hints: true)
      client = Pelton::HTTP::Client.new("http://127.0.0.1:#{server.listen("tcp://127.0.0.1:0").port}")
      Pelton.map(1..300, limit: 20) { client.get("/").body.bytesize }
      echo = Pelton.listen("127.0.0.1", 0) do |stream|
        stream.on_close { look.call }
        stream.on_data { |data| stream.write(data) { look.call } }
      end
      Pelton.map(1..10) do
        stream = Pelton.connect("127.0.0.1", echo.port)
        10.times do
          stream.write("q" * 40_000)
          left = 40_000
          (left -= stream.readpartial(65_536).bytesize) && look.call while left > 0
        end
        stream.close
      end
      client.close
      echo.close
      server.stop
    end
    puts count
  RUBY

  def test_no_write_barrier_is_missing
    assert_equal "300\n", ruby_output(PROGRAM)
  end
end
