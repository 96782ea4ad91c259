# frozen_string_literal: true

require_relative "../test_helper"

# Streams, HTTP connections, operations and tasks call a write barrier for each new reference: otherwise a minor
# collection would free the object. Ruby checks for missing barriers (and ends the process), in the middle of everything
# that such an object may do.
class WriteBarrierTest < PeltonTest
  self.deadline = 70 # each look at all objects takes a moment

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
      Pelton.map(1..300, concurrency: 20) { client.get("/").body.bytesize }
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
    assert_equal "300\n", ruby_output(PROGRAM, deadline: 60)
  end

  # Operations and tasks that are old when blocks, results and errors come to them.
  OPERATIONS = <<~'RUBY'
    require "pelton"

    count = 0
    told = ->(*) { count += 1 }
    age = lambda do
      4.times { GC.start(full_mark: false) }
      GC.verify_internal_consistency
    end
    check = lambda do
      GC.verify_internal_consistency
      GC.start(full_mark: false)
    end
    Pelton.run do
      4.times do |i|
        operations = Array.new(6) { Pelton::Operation.new }
        tasks = [Pelton.spawn { sleep 0.001; "value #{i}" }, Pelton.spawn { sleep 0.001; raise "error #{i}" },
          Pelton.spawn { sleep }, Pelton.spawn { sleep }]
        unstarted = Pelton.spawn { "never" }
        age.call
        [*operations, *tasks, unstarted].each do |one|
          3.times do
            one.callback { |*values| told.call(values.join) } && one.errback { |error| told.call(error.to_s) } &&
              check.call
          end
        end
        waiting = operations.first(3).map { |one| Pelton.spawn { told.call(one.await(timeout: 5)) } }
        operations[3].timeout(0.001)
        tasks[3].timeout(0.001)
        operations[0].succeed("value #{i}") && check.call
        operations[1].succeed("a", "b #{i}") && check.call
        operations[2].succeed(Object.new) && check.call
        operations[4].fail(RuntimeError.new("no #{i}")) && check.call
        operations[5].succeed && check.call
        unstarted.cancel
        sleep 0.003
        tasks[2].cancel
        check.call
        waiting.each(&:await)
        [operations[3], operations[4], *tasks.first(2)].each { |one| one.await rescue check.call }
        sleep 0
        unless operations[0].result == "value #{i}" && operations[1].result == ["a", "b #{i}"] &&
          operations[4].result.message == "no #{i}" && tasks[0].result == "value #{i}"
          raise "a value is lost"
        end
      end
    end
    puts count
  RUBY

  def test_operations_and_tasks_that_are_old
    assert_equal "144\n", ruby_output(OPERATIONS, deadline: 60)
  end
end
