# frozen_string_literal: true

require "json"
require_relative "../support/rails_serving"
require_relative "../support/storage_steps"

# An application of Rails (support/responses) answers the same on Pelton as on Puma, on each version of Rails that runs
# on this Ruby, and the same by `rails server -u pelton` (with the oldest, RACKUP_HANDLER) as by `pelton serve`.
class SameResponsesTest < PeltonTest
  include RailsServing
  include StorageSteps

  self.deadline = 180

  # Each version of Rails, and the oldest Ruby that it runs on.
  VERSIONS = {"7.0" => "2.7", "7.1" => "2.7", "7.2" => "3.1", "8.0" => "3.2", "8.1" => "3.2"}.freeze

  # What differs, on Puma and on Pelton. (Beside that Puma sets rack.url_scheme and SERVER_PORT by X-Forwarded-Proto,
  # which Rails reads itself, and sends "content-length: 0" with responses to HEAD and with 304.)
  DIFFERENT = {"BREW plain" => [501, 405]}.freeze # an unknown method: Puma refuses it, here Rails does

  # Headers that one of the servers writes by itself.
  OF_THE_SERVER = %w[date connection keep-alive].freeze
  # Headers that are new in each response.
  CHANGING = %w[x-request-id x-runtime].freeze

  VERSIONS.each do |version, ruby|
    define_method("test_rails_#{version.tr(".", "_")}_answers_as_on_puma") do
      skip "Rails #{version} needs Ruby #{ruby}" if Gem::Version.new(RUBY_VERSION) < Gem::Version.new(ruby)
      @version = version
      servings = [:pelton, :puma, (version == "7.0") ? :rackup : :rails].map do |server|
        start("responses", by: server, version: version)
      end
      pelton, puma, rails = servings.map { |serving| conversation(await_start(serving)) }

      assert_same({"pelton serve" => pelton, "rails server" => rails})
      assert_equal(DIFFERENT,
        DIFFERENT.to_h { |step, _| [step, [puma, pelton].map { |answers| answers.delete(step).first }] })
      assert_equal framing(version),
        [puma, pelton].map { |answers| answers.dig("streams/body", 1)&.delete("transfer-encoding") }
      assert_same({"Puma" => puma, "Pelton" => pelton})
      expected(pelton)
      expected_of_storage(pelton)
      # Puma, with Rails 8, sometimes does not end
      assert_equal [0], servings.values_at(0, 2).map { |serving| serving.stop("INT").exitstatus }.uniq
    end
  end

  private

  # Rails 8 passes a body with `call` on as it is: Puma closes the connection at its end, Pelton sends it in chunks.
  def framing(version) = [nil, ("chunked" if version >= "8.0")]

  # @param conversations [Hash{String => Hash}] two, by the names of their servers
  def assert_same(conversations)
    one, other = conversations.values

    assert_equal one.keys, other.keys
    differences = one.keys.reject { |step| one[step] == other[step] }

    assert_empty differences,
      differences.map { |step| describe(step, conversations.transform_values { |answers| answers[step] }) }.join("\n")
  end

  # Only what differs.
  def describe(step, answers)
    answers = answers.transform_values { |status, headers, body| {"status" => status, **headers.to_h, "body" => body} }
    parts = answers.values.flat_map(&:keys).uniq.reject do |part|
      answers.values.map { |answer| answer[part] }.uniq.one?
    end
    [step,
      *parts.map do |part|
        "  #{part}: #{answers.map { |server, answer| "#{answer[part].inspect[0, 1000]} by #{server}" }.join(", ")}"
      end]
      .join("\n")
  end

  # That the two agree says little if both fail.
  def expected(answers)
    codes = answers.transform_values(&:first)

    assert_equal [200, 304, 304, 206, 206, 200, 404, 500, 409, 422],
      codes.values_at("plain", "plain, unchanged", "fresh, unchanged", "a range", "a range of a served file", "submit",
        "no route", "failing", "rescued", "a forged submit")
    assert_equal ["visit 1", "visit 2"], answers.values_at("session", "session again").map(&:last)
    assert_equal "part 0\npart 1\npart 2\n", answers["live/parts"].last
    assert_equal "session 2, /live/state", answers["live with a session"].last
    assert_equal %w[saved careful], JSON.parse(answers["flash"].last).values_at("notice", "alert")
    assert_equal({}, JSON.parse(answers["flash again"].last))
    assert_equal 3_000_000, JSON.parse(answers["an uploaded file"].last)["size"]
  end

  # Asks everything.
  #
  # @return [Hash{String => Array}] status, headers and body of each step
  def conversation(serving)
    @serving, @cookies, @answers = serving, {}, {}
    pages
    state
    streams
    files
    errors
    requests
    uploads
    storage
    @answers
  end

  def pages
    %w[plain show expiring nothing created moved see_other found].each { |name| ask(name, "/#{name}") }
    ask("not modified by an etag of another", "/plain", "if-none-match: W/\"other\"\n")
    ask("plain, unchanged", "/plain", "if-none-match: #{ask("plain, whole", "/plain")["etag"]}\n")
    ask("fresh", "/fresh")
    ask("fresh, unchanged", "/fresh", "if-modified-since: Tue, 02 Jan 2024 00:00:00 GMT\n")
    ask("see other, from a page", "/see_other", "referer: http://localhost/show\n")
    [nil, "application/json", "application/xml", "text/html;q=0.5, application/json;q=0.9", "image/png",
      "*/*"].each { |type| ask("formats for #{type}", "/formats", ("accept: #{type}\n" if type)) }
    %w[json xml pdf].each { |format| ask("formats.#{format}", "/formats.#{format}") }
    %w[plain show fresh nothing streams/enumerator live/parts file none].each do |name|
      ask("HEAD #{name}", "/#{name}", method: "HEAD")
    end
    %w[OPTIONS TRACE DELETE BREW].each { |verb| ask("#{verb} plain", "/plain", method: verb) }
  end

  def state
    ask("set cookies", "/state/set_cookies")
    ask("read cookies", "/state/read_cookies")
    ask("read bad cookies", "/state/read_cookies", cookies: {"signed" => "x--y", "encrypted" => "z", "plain" => "%zz"})
    ask("session", "/state/set_session")
    ask("session again", "/state/set_session")
    ask("redirect with a flash", "/state/set_flash")
    ask("flash", "/state/read_flash")
    ask("flash again", "/state/read_flash")
    token = ask("form", "/state/form").body
    ask("submit", "/state/submit", body: URI.encode_www_form(word: "ü &", authenticity_token: token),
      type: "application/x-www-form-urlencoded")
    ask("submit with a header", "/state/submit", "x-csrf-token: #{token}\n", body: JSON.generate(word: "json"),
      type: "application/json")
    ask("a forged submit", "/state/submit", body: "word=evil", type: "application/x-www-form-urlencoded")
    ask("a submit from elsewhere", "/state/submit", "origin: http://evil.example\n",
      body: URI.encode_www_form(authenticity_token: token), type: "application/x-www-form-urlencoded")
    ask("live with a session", "/live/state")
    ask("reset", "/state/reset")
    ask("session after reset", "/state/set_session")
  end

  def streams
    names = %w[streams/enumerator streams/sized live/parts live/events live/download live/failing_early]
    names << "streams/body" unless @version == "7.0"
    names.each do |name|
      ask(name, "/#{name}")
      ask("#{name} for HTTP/1.0", "/#{name}", http: "1.0")
    end
  end

  def files
    ask("file", "/file")
    ask("a served file", "/served")
    ask("data", "/data")
    ask("a static file", "/numbers.txt")
    {"a range" => "bytes=10-19", "the end" => "bytes=-5", "two ranges" => "bytes=0-1,10-11", "beyond" => "bytes=5000-",
     "nonsense" => "lines=1-2"}.each do |name, range|
      ask(name, "/numbers.txt", "range: #{range}\n")
      ask("#{name} of send_file", "/file", "range: #{range}\n")
      ask("#{name} of a served file", "/served", "range: #{range}\n")
    end
    ask("HEAD of a static file", "/numbers.txt", method: "HEAD")
    ask("a static file, unchanged", "/numbers.txt",
      "if-modified-since: #{File.mtime("#{@serving.folder}/public/numbers.txt").httpdate}\n")
    ask("a file above the folder", "/../config.ru")
    ask("a file above the folder, escaped", "/%2e%2e/config.ru")
  end

  def errors
    %w[failing forbidden rescued].each { |name| ask(name, "/#{name}") }
    ask("no route", "/none")
    ["application/json", "application/xml", "text/plain"].each do |type|
      ask("no route for #{type}", "/none", "accept: #{type}\n")
      ask("failing for #{type}", "/failing", "accept: #{type}\n")
    end
    ask("invalid JSON", "/echo", body: "{", type: "application/json")
    ask("an invalid query", "/echo?a[]=1&a[b]=2")
    ask("invalid UTF-8", "/echo?a=%FF")
    ask("an invalid escape", "/echo?a=%zz")
    ask("invalid multipart", "/upload", body: "--x\r\nnothing", type: "multipart/form-data; boundary=x")
    ask("an invalid type", "/plain", "accept: nonsense\n")
  end

  def requests
    ask("a query", "/echo/a%2Fb/%C3%BC;x=1?q=1&list[]=2&list[]=3&hash[k]=v&empty=&space=a+b%20c")
    ask("two slashes", "//echo//x//")
    ask("a whole URL", "http://localhost/echo?whole=1")
    ask("headers", "/echo", "x-twice: 1\nx-twice: 2\nempty:\naccept: text/html\nx-requested-with: XMLHttpRequest\n")
    ask("a proxy", "/echo", "x-forwarded-for: 203.0.113.7, 10.0.0.1\nx-forwarded-proto: https\n" \
      "x-forwarded-host: shop.example\nx-forwarded-port: 443\n")
    ask("HTTP/1.0", "/echo", http: "1.0")
    ask("HTTP/1.0 that stays", "/plain", "connection: keep-alive\n", http: "1.0")
    ask("the last request", "/plain", "connection: close\n")
    ask("a form", "/echo?in=query", body: "a=1&b[c]=%C3%BC&b[d][]=2", type: "application/x-www-form-urlencoded")
    ask("JSON", "/echo", body: JSON.generate(a: {b: [1, nil, "ü"]}), type: "application/json; charset=utf-8")
    ask("another type", "/echo", body: "a,b", type: "text/csv")
    ask("no type", "/echo", body: "a=b")
    ask("an empty body", "/echo", body: "", type: "text/plain")
    %w[PUT PATCH DELETE].each do |verb|
      ask("#{verb} with a body", "/echo", body: "a=1", type: "application/x-www-form-urlencoded", method: verb)
    end
    ask("an overridden method", "/echo", body: "_method=delete", type: "application/x-www-form-urlencoded")
    ask("a body in chunks", "/echo", "transfer-encoding: chunked\n", body: "3\r\na=1\r\n4\r\n&b=2\r\n0\r\n\r\n",
      type: "application/x-www-form-urlencoded", counted: false, method: "POST")
    ask("GET with a body", "/echo", body: "a=1", type: "application/x-www-form-urlencoded", method: "GET")
  end

  def uploads
    large = Random.new(7).bytes(3_000_000)
    ask("an uploaded file", "/upload", body: multipart("note" => "n ü", "file" => large),
      type: "multipart/form-data; boundary=BOUNDARY")
    ask("a raw body", "/upload", body: large, type: "application/octet-stream")
    ask("a body that is announced", "/upload", "expect: 100-continue\n", body: "x" * 1000,
      type: "application/octet-stream")
  end

  def multipart(parts)
    parts.map { |name, content|
      file = %(; filename="#{name} ü.bin"\r\ncontent-type: application/x-thing) if name == "file"
      %(--BOUNDARY\r\ncontent-disposition: form-data; name="#{name}"#{file}\r\n\r\n).b << content.b << "\r\n".b
    }.join << "--BOUNDARY--\r\n".b
  end

  # Sends one request on a separate connection, with the cookies that the responses have set.
  def ask(step, path, headers = nil, method: nil, body: nil, type: nil, http: "1.1", counted: true, cookies: {})
    raise ArgumentError, "#{step}: two steps have this name" if @answers.key?(step)
    method ||= body ? "POST" : "GET"
    head = "#{method} #{path} HTTP/#{http}\nHost: localhost\n#{headers}"
    head << "cookie: #{@cookies.merge(cookies).map { |name, value| "#{name}=#{value}" }.join("; ")}\n" if @cookies.any?
    head << "content-type: #{type}\n" if type
    head << "content-length: #{body.bytesize}\n" if body && counted
    peer = @serving.peer.say("#{head}\n", body.to_s)
    response = peer.response(head_only: method == "HEAD")
    response = peer.response if response.status == 100
    keep(response)
    @answers[step] = normal(response)
    response
  rescue SystemCallError, EOFError => error
    @answers[step] = [error.class]
    HttpPeer::Response.new(nil, {}, "")
  ensure
    peer&.close
  end

  def keep(response)
    Array(response["set-cookie"]).each do |cookie|
      name, value = cookie[/\A[^;]*/].split("=", 2)
      value.to_s.empty? ? @cookies.delete(name) : @cookies[name] = value
    end
  end

  # What is encrypted or random counts by its form.
  def normal(response)
    headers = response.headers.except(*OF_THE_SERVER).to_h do |name, value|
      value = "..." if CHANGING.include?(name)
      value = Array(value).map { |cookie| cookie.sub(/\A(\w+)=[^;]+/) { "#{$1}=..." } } if name == "set-cookie"
      [name, value.is_a?(String) ? unsigned(value) : value]
    end
    headers["last-modified"] &&= "..." if response["content-disposition"] # an uploaded file
    headers.delete("content-length") if response.body.nil?
    body = response.body&.then { |text| unsigned(text.b.gsub(/\b#{@serving.port}\b/, "PORT")) }
    body = headers["etag"] = "..." if body&.match?(/\A[\w-]{86}={0,2}\z/) # a token against forgery
    [response.status, headers.sort.to_h, body]
  end
end
