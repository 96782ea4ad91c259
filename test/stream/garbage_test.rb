# frozen_string_literal: true

require_relative "../test_helper"
require_relative "../support/certificates"
require "pelton"

# Large strings that streams send are collected before they fill the memory, however high Ruby's own limits are
# (ext/pelton/ruby/base/garbage.c).
class StreamGarbageTest < PeltonTest
  LIMITS =
    %w[RUBY_GC_MALLOC_LIMIT RUBY_GC_MALLOC_LIMIT_MAX RUBY_GC_OLDMALLOC_LIMIT RUBY_GC_OLDMALLOC_LIMIT_MAX].to_h do |name|
      [name, "4000000000"]
    end

  SENDS = <<~RUBY
    require "pelton"
    GC.disable if ARGV[1] == "disabled"
    Pelton.run do
      here, there = Pelton::Stream.pair
      bytes = String.new(capacity: 60_000) # one for all: what is received makes no garbage
      reader = Pelton.spawn { loop { there.readpartial(60_000, bytes) } rescue EOFError }
      GC.start # or else the slots that loading has left could run out just here
      before = GC.count
      64.times { here.write("x" * Integer(ARGV[0])) && sleep(0) }
      print GC.count - before
      here.close
      reader.await
    end
  RUBY

  def test_large_strings_start_collections
    assert_operator collections(1 << 20), :>, 0
  end

  def test_small_strings_start_none
    assert_equal 0, collections(1 << 10)
  end

  def test_a_program_that_has_disabled_the_collector_has_none
    assert_equal 0, collections(1 << 20, "disabled")
  end

  def test_what_a_handshake_calls_is_kept
    called = 0
    Pelton.run do
      handshakes = Array.new(20) { handshake { called += 1 } }
      GC.start
      garbage = Array.new(50_000) { |number| "in the place of what was collected #{number}" }
      handshakes.each(&:await)

      assert_equal 50_000, garbage.size
    end
    assert_operator called, :>=, 20
  end

  private

  # @return [Pelton::Operation] it has not begun yet
  def handshake
    server, client = Pelton::Stream.pair
    server.start_tls(server: true, **Certificates.server.to_h) {}
    client.start_tls(ca_file: Certificates.authority, server_name: "localhost", on_certificate: ->(_) { yield }) {}
  end

  def collections(*arguments) = Integer(ruby_output(SENDS, *arguments, env: LIMITS))
end
