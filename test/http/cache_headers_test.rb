# frozen_string_literal: true

require_relative "../support/http/peer"

# What becomes of each header of a request that goes through the server's cache (ext/pelton/core/http1/caching.c).
class HTTPCacheHeadersTest < PeltonTest
  include HttpPeer

  PUBLIC = {"content-type" => "text/plain", "cache-control" => "public, max-age=60"}.freeze
  GUIDE = File.read(File.join(ROOT, "docs/guides/pages_in_pieces.md"), encoding: "UTF-8")

  # The table of the guide: each header of it by real requests.
  def test_the_guide_says_what_becomes_of_each_header
    keyed, hidden, others = GUIDE[/^\| request headers.*?\n\n/m].lines[2, 3].map do |row|
      row.split("|")[1].scan(/`([\w-]+)`/).flatten
    end

    assert_equal [20, 32, 10], [keyed, hidden, others].map(&:size)
    serving(->(env) do
      [200, PUBLIC.dup, [env.select { |name, value| name.start_with?("HTTP_") && value.include?("MALLORY") }.keys.join]]
    end,
      cache: 4 << 20) do
      [*keyed, *hidden, *others].each_with_index do |name, index|
        shown = "HTTP_#{name.upcase.tr("-", "_")}"
        mallory = -> { by_header("/#{index}", name, "MALLORY") }
        alice = -> { by_header("/#{index}", name, nil) }
        answers = [mallory.call, mallory.call, alice.call, mallory.call, alice.call, alice.call]

        assert_equal ["", "", ""], answers.values_at(2, 4, 5).map(&:body), name
        assert_equal((others.include?(name) || keyed.include?(name)) ? [shown, shown, shown] : [shown, "", ""],
          answers.values_at(0, 1, 3).map(&:body), name)
        hits = answers.map { |answer| answer["age"] ? 1 : 0 }

        assert_equal({
          keyed => [0, 1, 0, 1, 1, 1],
          hidden => [0, 0, 1, 1, 1, 1],
          others => [0, 0, 0, 0, 1, 1]
        }.find { |names, _| names.include?(name) }.last,
          hits, name)
      end
    end
  end

  # What a page for one visitor is made of is there as ever.
  def test_a_page_that_is_not_public_has_all_headers
    serving(->(env) { [200, {}, [env["HTTP_USER_AGENT"] + env["HTTP_X_FORWARDED_FOR"]]] }, cache: 1 << 20) do
      3.times do |number|
        assert_equal "me192.0.2.#{number}", peer.get("/", "User-Agent: me\nX-Forwarded-For: 192.0.2.#{number}\n").body
      end
      assert_equal 0, @server.stats[:cache_bytes]
    end
  end

  def test_what_the_application_sees_when_its_response_is_kept
    seen = []
    app = lambda do |env|
      seen << env.select { |name, _| name.start_with?("HTTP_") }
      [200, PUBLIC.merge("x-request-id" => env["HTTP_X_REQUEST_ID"] || "own", "x-runtime" => "1", "x-other" => "1"),
        ["x"]]
    end
    serving(app, cache: 1 << 20) do
      headers =
        "User-Agent: me\nX-Request-Id: a1\nAccept: text/html\nConnection: TE, keep-alive\nTE: trailers\n" \
        "If-None-Match: \"b\"\n"
      answers = Array.new(3) { peer.get("/", headers) }

      assert_equal ["a1", "own", nil], answers.map { |answer| answer["x-request-id"] }
      assert_equal [["1", "1"], ["1", "1"], [nil, "1"]],
        answers.map { |answer| answer.headers.values_at("x-runtime", "x-other") }
    end
    assert_equal({
      "HTTP_HOST" => "localhost",
      "HTTP_ACCEPT" => "text/html",
      "HTTP_CONNECTION" => "TE, keep-alive",
      "HTTP_USER_AGENT" => "Pelton"
    }, seen.last)
    assert_equal 2, seen.size
  end

  # An application that wants to know who asks: it is not asked without that again and again.
  def test_a_response_that_is_public_for_those_alone_who_say_who_they_are
    calls = []
    app = lambda do |env|
      calls << env["HTTP_X_REAL_IP"]
      env["HTTP_X_REAL_IP"] ? [200, PUBLIC.dup, ["yes"]] : [403, {}, ["no"]]
    end
    serving(app, cache: 1 << 20) { 20.times { peer.get("/", "X-Real-IP: 192.0.2.1\n") } }

    assert_equal ["192.0.2.1", nil, *["192.0.2.1"] * 18], calls
  end

  def test_one_request_renews_what_has_grown_old
    calls = []
    app = lambda do |env|
      sleep 0.001
      [200, PUBLIC.merge("cache-control" => "public, max-age=1"), [(calls << env["HTTP_REFERER"]).size.to_s]]
    end
    serving(app, cache: 1 << 20) do
      2.times { peer.get("/", "Referer: x\n") }
      sleep 1.05
      bodies = Array.new(5) { Pelton.spawn { peer.get("/", "Referer: x\n").body } }.map(&:await)

      assert_equal %w[3] * 5, bodies # the others have waited for it
      assert_equal "3", peer.get("/", "Referer: y\n").body
    end
    assert_equal ["x", nil, nil], calls, "the referers: of the first request alone"
  end

  # Two keys may have the same parts in other places.
  def test_parts_of_a_key_are_not_confused
    serving(->(env) { [200, PUBLIC.dup, [env.values_at("HTTP_ACCEPT", "HTTP_ACCEPT_LANGUAGE", "HTTP_DNT").inspect]] },
      cache: 1 << 20) do
      2.times do
        {"" => [nil, nil, nil], "Accept:\n" => ["", nil, nil], "Accept-Language:\n" => [nil, "", nil],
         "DNT: 1\n" => [nil, nil, "1"], "Accept: 1\n" => ["1", nil, nil]}.each do |headers, values|
          assert_equal values.inspect, peer.get("/", headers).body
        end
      end
      assert_equal 5, @server.stats[:cache_hits]
    end
  end

  private

  def by_header(path, name, value)
    host = (name == "Host") ? value || "localhost" : "localhost"
    peer.say("GET #{path} HTTP/1.1\nHost: #{host}\n#{"#{name}: #{value}\n" if value && name != "Host"}\n").response
  end
end
