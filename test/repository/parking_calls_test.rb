# frozen_string_literal: true

require_relative "../test_helper"

# The calls in C that may park, or run Ruby code, which may park: other fibers run meanwhile. parking_calls.txt lists
# each function that makes such a call; whoever adds one reads what follows it.
class ParkingCallsTest < PeltonTest
  EXT = File.join(ROOT, "ext/pelton")
  LIST = File.join(__dir__, "parking_calls.txt")

  # The rooms above the reactor, whose own switching has its table and its random programs.
  ROOMS = %w[operation scheduler stream tls http memcached].freeze

  # Functions that park by themselves, and those of Ruby that call methods of any object.
  PARKS = /\A(?:
    pel_(?:park\w*|mutex_wait|sleep|yield|spend|budget_exhausted|descriptors?_wait|tls_handshake) |
    pel_(?:upcallv?|dispatch|run_job|inherit|locals_fresh|run_outside|start_fiber|run_close) |
    rb_(?:funcall\w*|call_super|yield\w*|proc_call\w*|block_call\w*|catch_obj) |
    rb_(?:fiber_scheduler_kernel_sleep|mutex_lock|mutex_sleep) |
    rb_(?:obj_as_string|String|Integer|Array|convert_type|check_array_type|get_path|respond_to|str_to_str) |
    StringValue | await_room
  )\z/x

  NEW = "%s: %s calls %s, which may park. Other fibers run meanwhile: a client leaves, a stream or a server is " \
    "closed, " \
    "a garbage collection frees what only C refers to. Read each line behind the call: nothing may be used there " \
    "that " \
    "can be gone, unless it was asked for again (still_answering_p, pel_http_exchange_get, pel_stream_get) or is " \
    "kept alive (RB_GC_GUARD on its object). Then add the call to #{LIST}."

  def test_each_call_that_may_park_was_read
    listed = read_list
    found = parking_calls

    found.each do |file, functions|
      functions.each do |function, callees|
        (callees - listed.dig(file, function).to_a).each { |callee| flunk format(NEW, file, function, callee) }
      end
    end
    assert_equal found, listed, "calls that are gone: take them out of #{LIST}"
  end

  def test_it_finds_calls_through_functions_of_other_files
    found = parking_calls

    assert_includes found.dig("ruby/http/response/http_response.c", "deliver_body"), "pel_http_share"
    assert_includes found.dig("ruby/http/request/http_request.c", "pel_http_read_requests"), "read_request"
    assert_includes found.dig("ruby/tls/handshake.c", "run_handshake_step"), "handshake_step"
    refute_includes found["ruby/http/connection/exchange_end.c"], "pel_http_end_exchange"
  end

  private

  # File => function => those that it calls and that may park.
  def parking_calls
    functions = sources.flat_map { |file, text| functions_of(file, text) }
    parking = parking_of(functions)
    functions.select { |function| parking[function] }.group_by { |function| function[:file] }.transform_values do |all|
      all.sort_by { |one| one[:name] }.to_h do |one|
        callees = called(one, functions).select { |other| parking[other] }
        [one[:name], (one[:parks] + callees.map { |other| other[:name] }).sort]
      end
    end
  end

  def parking_of(functions)
    parking = functions.to_h { |function| [function, function[:parks].any?] }.compare_by_identity
    loop do
      more = functions.select do |function|
        !parking[function] && called(function, functions).any? { |other| parking[other] }
      end
      return parking if more.empty?
      more.each { |function| parking[function] = true }
    end
  end

  # A name that is mentioned counts as a call, since functions are passed to pel_protect and rb_ensure; but not one that
  # is stored.
  def functions_of(file, text)
    text.scan(/^(?!#)(?:\w[^;{}()=]*?|NORETURN\()\b(\w+)\([^;{}]*\)\)?\s*\{\n(.*?)^\}/m).filter_map do |name, body|
      next if name.start_with?("pel_init_")
      mentioned = body.gsub(/=\s*\w+\b(?!\s*\()|\bstruct \w+/, "").scan(/\b[a-zA-Z]\w+\b/).uniq
      {file:, name:, mentioned: mentioned - [name], parks: mentioned.grep(PARKS)}
    end
  end

  def called(function, functions)
    @by_name ||= functions.group_by { |one| one[:name] }
    function[:called] ||= function[:mentioned].filter_map do |name|
      homes = @by_name[name].to_a
      homes.find { |one| one[:file] == function[:file] } || (homes.first if name.start_with?("pel_"))
    end
  end

  def sources
    Dir["ruby/{#{ROOMS.join(",")}}/**/*.c", base: EXT].sort.to_h do |file|
      [file, File.read(File.join(EXT, file)).gsub(%r{/\*.*?\*/|"(?:\\.|[^"\\])*"}m, "")]
    end
  end

  def read_list
    File.read(LIST).split(/^(?=ruby)/).to_h do |part|
      file, *lines = part.lines(chomp: true).reject(&:empty?)
      [file, lines.to_h { |line| line.strip.split(": ").then { |name, callees| [name, callees.split] } }]
    end
  end
end
