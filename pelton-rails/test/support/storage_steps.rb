# frozen_string_literal: true

require "base64"
require "json"

# What {SameResponsesTest} asks of Active Storage: files that were uploaded, by the disk's own address, by redirects and
# through the application; direct uploads; variants.
module StorageSteps
  # A file that browsers show, an image that has variants, and one that Active Storage gives to browsers for download
  # alone.
  FILES = {"text" => ["notes ü.txt", "text/plain"], "image" => ["picture.png", "image/png"],
           "script" => ["page.html", "text/html"]}.freeze
  RANGES = {"a range" => "bytes=5-9", "the end" => "bytes=-5", "to the end" => "bytes=20-",
            "two ranges" => "bytes=0-1,5-6", "beyond" => "bytes=900000-", "nonsense" => "lines=1-2"}.freeze

  # What is signed or random.
  CHANGING = {
    %r{(/rails/active_storage/\w+(?:/(?:redirect|proxy))?/)[^\s"?]+} => '\1...',
    /("(?:key|created_at|signed_id|attachable_sgid)":)"[^"]*"/ => '\1"..."', /\b\h{32}\b/ => "..."
  }.freeze
  private_constant :CHANGING

  private

  # bin/setup downstream brings ImageMagick.
  def image_magick?
    %w[magick identify].any? do |tool|
      ENV["PATH"].split(":").any? { |folder| File.executable?(File.join(folder, tool)) }
    end
  end

  def storage
    FILES.each do |kind, (name, type)|
      next if kind == "image" && !image_magick?
      content = content_of(kind)
      links = JSON.parse(ask("storage #{kind}", "/documents", body: form_with(name, type, content),
        type: "multipart/form-data; boundary=BOUNDARY").body)
      links.slice("service", "redirect", "proxy", "download", "variant", "variant_proxy").compact.each do |way, path|
        ways("#{kind} by #{way}", path)
      end
    end
    direct_uploads
  end

  def ways(step, path)
    response = ask(step, path)
    ask("HEAD #{step}", path, method: "HEAD")
    ask("#{step} for HTTP/1.0", path, http: "1.0")
    RANGES.each { |name, range| ask("#{name} of #{step}", path, "range: #{range}\n") }
    {"etag" => "if-none-match", "last-modified" => "if-modified-since"}.each do |validator, condition|
      next unless response[validator]
      ask("#{step}, unchanged by #{validator}", path, "#{condition}: #{response[validator]}\n")
      ask("#{step}, a range if #{validator}", path, "range: bytes=5-9\nif-range: #{response[validator]}\n")
      ask("#{step}, a range if another #{validator}", path,
        "range: bytes=5-9\nif-range: Tue, 02 Jan 2024 00:00:00 GMT\n")
    end
    ask("forged #{step}", path.sub(%r{--\w+}) { |signature| signature.tr("0-9a-f", "1-9a-f0") })
  end

  # A browser announces a file, sends it to the address that it gets, and gives the form its id.
  def direct_uploads
    content = "sent directly"
    blob = {filename: "direct.txt", byte_size: content.bytesize,
            checksum: Base64.strict_encode64(Digest::MD5.digest(content)), content_type: "text/plain"}
    token = ask("form of a direct upload", "/state/form").body
    announced = JSON.parse(ask("direct upload", "/rails/active_storage/direct_uploads", "x-csrf-token: #{token}\n",
      body: JSON.generate(blob: blob), type: "application/json").body)
    path = URI(announced.dig("direct_upload", "url")).path
    ask("direct upload, another file", path, method: "PUT", body: "something else", type: "text/plain")
    ask("direct upload, another sum", path, method: "PUT", body: content.upcase, type: "text/plain")
    ask("direct upload, another type", path, method: "PUT", body: content, type: "text/html")
    ask("direct upload, the file", path, method: "PUT", body: content, type: "text/plain")
    links = JSON.parse(ask("direct upload, attached", "/documents",
      body: URI.encode_www_form(signed_id: announced["signed_id"]), type: "application/x-www-form-urlencoded").body)
    ask("direct upload, back", links["service"])
  end

  # @return [String] without what differs in each run
  def unsigned(text) = CHANGING.reduce(text) { |result, (pattern, replacement)| result.gsub(pattern, replacement) }

  def content_of(kind)
    case kind
    when "image" then File.binread("#{PeltonTest::ROOT}/pelton-rails/test/support/responses/picture.png")
    when "script" then "<script>alert(1)</script>" * 2
    else "0123456789" * 100
    end
  end

  def form_with(name, type, content)
    %(--BOUNDARY\r\ncontent-disposition: form-data; name="file"; filename="#{name}"\r\n).b <<
      "content-type: #{type}\r\n\r\n".b <<
      content.b <<
      "\r\n--BOUNDARY--\r\n".b
  end

  # That the two agree says little if both fail.
  def expected_of_storage(answers)
    codes = answers.transform_values(&:first)

    assert_equal [200, 206, 206,
      304, 200], codes.values_at("text by service", "a range of text by service", "two ranges of text by service",
        "text by service, unchanged by last-modified", "HEAD text by service")
    assert_equal "56789", answers["a range of text by service"].last
    assert_equal [302, 200, 206, 404],
      codes.values_at("text by redirect", "text by proxy", "a range of text by proxy", "forged text by proxy")
    assert_equal [422, 422, 422, 204, 200], codes.values_at("direct upload, another file", "direct upload, another sum",
      "direct upload, another type", "direct upload, the file", "direct upload, back")
    assert_equal "sent directly", answers["direct upload, back"].last
    assert_match(/\Aattachment/, answers["script by proxy"].fetch(1)["content-disposition"])
    assert_equal [302, 200], codes.values_at("image by variant", "image by variant_proxy") if image_magick?
  end
end
