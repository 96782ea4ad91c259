# frozen_string_literal: true

require "open3"
require "rack/lint"
require "rack/mock"
require "zlib"
require_relative "../test_helper"
require "pelton/http"

class HTTPPageTest < PeltonTest
  Page = Pelton::HTTP::Page
  Fragment = Pelton::HTTP::Fragment

  def test_text_and_fragments_in_their_order
    first, second = Fragment.new("first "), Fragment.new("second ")
    page = Page.new << "<" << first << "between " << second << second << ">"

    assert_equal "<first between second second >", page.text
    assert_equal [first, second, second], page.fragments
    assert_equal page.text.bytesize, page.bytesize
    assert_equal page.text, Zlib.gunzip(page.gzip)
  end

  def test_an_empty_page
    assert_empty Page.new
    assert_equal "", Zlib.gunzip(Page.new.gzip)
    assert_equal "", Zlib.gunzip((Page.new << Fragment.new("") << "").gzip)
  end

  # Text of each length up to where it is compressed, and beyond what a stored block takes, before, between and behind
  # fragments.
  def test_text_of_any_length
    fragment = Fragment.new("fragment" * 20)
    [0, 1, 2, 255, 256, 257, 1000, 65_534, 65_535, 65_536, 200_000].each do |length|
      text = Random.new(length).bytes(length)
      page = Page.new << text << fragment << text << fragment << fragment << text

      assert_equal page.text.b, Zlib.gunzip(page.gzip), "#{length} bytes"
    end
  end

  def test_a_text_split_into_parts_at_each_place
    text = "<p>Hello, world: " + "æøå" * 6 + "</p>"
    text.each_char.with_index do |_, split|
      parts = [text[0...split], text[split..]]
      [[:itself, :itself], [:fragment, :itself], [:itself, :fragment], [:fragment, :secret]].each do |kinds|
        page = parts.zip(kinds).inject(Page.new) { |sum, (part, kind)| sum << made(part, kind) }

        assert_equal text.b, Zlib.gunzip(page.gzip).b
      end
    end
  end

  def test_random_pages_and_gzip_itself
    random = Random.new(14)
    pages = Array.new(30) { random_page(random) }

    pages.each do |page, text|
      assert_equal text, page.text.b
      assert_equal text, Zlib.gunzip(page.gzip)
      assert_equal text, Zlib::Inflate.new(31).inflate(page.gzip)
    end
    # Members behind each other are a gzip file, too.
    output, error, status = Open3.capture3("gzip", "-dc", stdin_data: pages.map { |page, _| page.gzip }.join,
      binmode: true)
    assert_predicate status, :success?, error
    assert_equal pages.map(&:last).join, output
    _, error, status = Open3.capture3("gzip", "-t", stdin_data: pages.first.first.gzip, binmode: true)
    assert_predicate status, :success?, error
  end

  def test_long_text_is_compressed
    page = Page.new << Fragment.new("x") << "text " * 1000

    assert_operator page.gzip.bytesize, :<, 200
    assert_operator (Page.new << "text " * 2000).gzip.bytesize, :<, 200
  end

  # The size of a secret's part of the page depends on its length alone: not on what stands before and behind it.
  def test_a_secret_is_not_compressed_with_the_text_around_it
    sizes = %w[guess-a guess-b token-1].map do |guess|
      (Page.new << "#{guess} " * 200 << Fragment.secret("token-1") << Fragment.new("#{guess} " * 200)).gzip.bytesize -
        (Page.new << "#{guess} " * 200 << Fragment.new("#{guess} " * 200)).gzip.bytesize
    end

    assert_equal 1, sizes.uniq.size
  end

  def test_a_page_in_a_page
    inner = Page.new << "a" << Fragment.new("b") << "c"
    page = Page.new << "<" << inner << ">" << inner << Page.new

    assert_equal "<abc>abc", page.text
    assert_equal %w[b b], page.fragments.map(&:text)
    assert_equal page.text, Zlib.gunzip(page.gzip)
    page << page
    assert_equal "<abc>abc<abc>abc", page.text
    assert_equal page.text, Zlib.gunzip(page.gzip)
  end

  def test_what_cannot_be_part_of_a_page
    page = Page.new << "text"

    [nil, 1, :a, ["a"], Object.new].each do |part|
      assert_match(/made of Strings/, assert_raises(TypeError) { page << part }.message)
    end
    assert_raises(Encoding::CompatibilityError) { page << "å" << "\xe5".b }
    assert_raises(FrozenError) { Page.new.freeze << "a" }
    assert_raises(NoMethodError, TypeError) { page.dup << "b" }
    assert_equal "textå", page.text
  end

  def test_the_text_that_was_read_does_not_change
    page = Page.new << "a" * 1000
    text = page.text
    page << Fragment.new("b")

    assert_equal "a" * 1000, text
    assert_predicate text, :frozen?
    assert_equal "#{"a" * 1000}b", page.text
  end

  def test_the_entity_tag_tells_pages_apart
    fragment = Fragment.new("text")
    tag = (Page.new << "a" << fragment << "b").etag

    assert_match(/\AW\/"\h{32}"\z/, tag)
    assert_equal tag, (Page.new << "a" << Fragment.new("text") << "b").etag
    others = [Page.new << "a" << fragment << "c", Page.new << "ab" << fragment,
      Page.new << "a" << fragment << "b" << fragment,
      Page.new << "a" << Fragment.new("tex_") << "b", Page.new]
    assert_equal others.size + 1, [tag, *others.map(&:etag)].uniq.size
  end

  # The digest of a fragment as plain text does not stand for the fragment.
  def test_text_cannot_pretend_to_be_a_fragment
    fragment = Fragment.new("text")

    refute_equal (Page.new << fragment).etag, Page.new.<<(fragment.digest).etag
  end

  # ---- responses

  def test_a_response_for_a_client_that_takes_gzip
    response = get(long_page, "HTTP_ACCEPT_ENCODING" => "br, gzip")

    assert_equal 200, response.status
    assert_equal "gzip", response["content-encoding"]
    assert_equal "accept-encoding", response["vary"]
    assert_equal response.body.bytesize.to_s, response["content-length"]
    assert_equal long_page.text.b, Zlib.gunzip(response.body)
  end

  def test_a_response_for_a_client_that_does_not
    [nil, "", "br", "gzip;q=0", "identity"].each do |header|
      response = get(long_page, {"HTTP_ACCEPT_ENCODING" => header}.compact)

      assert_nil response["content-encoding"]
      assert_equal "accept-encoding", response["vary"], "a cache must know"
      assert_equal long_page.text.b, response.body.b
    end
  end

  def test_what_is_not_compressed
    gzip = {"HTTP_ACCEPT_ENCODING" => "gzip"}

    assert_nil get(Page.new << "short", gzip)["content-encoding"]
    assert_nil get(long_page, gzip, "cache-control" => "no-transform")["content-encoding"]
    assert_equal "br", get(long_page, gzip, "content-encoding" => "br")["content-encoding"]
  end

  def test_not_modified
    tag = long_page.etag
    [{}, {"HTTP_ACCEPT_ENCODING" => "gzip"}].each do |accepting|
      response = get(long_page, accepting.merge("HTTP_IF_NONE_MATCH" => "\"other\", #{tag}"),
        "content-security-policy" => "default-src 'self'")

      assert_equal 304, response.status
      assert_equal tag, response["etag"]
      assert_equal "accept-encoding", response["vary"]
      assert_equal "default-src 'self'", response["content-security-policy"]
      assert_empty response.body
      assert_nil response["content-type"]
    end
    assert_equal 200, get(long_page, "HTTP_IF_NONE_MATCH" => "\"other\"").status
    assert_equal 200, get(long_page, "HTTP_IF_NONE_MATCH" => tag, "REQUEST_METHOD" => "POST").status
  end

  def test_an_entity_tag_of_the_application_s_own
    headers = {"etag" => "\"own\""}

    assert_equal "\"own\"", get(long_page, {}, headers)["etag"]
    assert_equal "W/\"own\"", get(long_page, {"HTTP_ACCEPT_ENCODING" => "gzip"}, headers)["etag"],
      "the bytes are others"
    assert_equal 304, get(long_page, {"HTTP_IF_NONE_MATCH" => "\"own\""}, headers).status
    assert_equal({"etag" => "\"own\""}, headers)
  end

  def test_a_response_of_another_status_has_no_tag
    app = ->(env) { long_page.response(env, 404, "content-type" => "text/html") }
    response = Rack::MockRequest.new(Rack::Lint.new(app)).get("/", "HTTP_IF_NONE_MATCH" => long_page.etag)

    assert_equal 404, response.status
    assert_nil response["etag"]
  end

  private

  def long_page = Page.new << "<html>" << Fragment.new("<p>æøå</p>\n" * 200) << "</html>"

  def get(page, env, headers = {})
    app = ->(request) { page.response(request, 200, {"content-type" => "text/html; charset=utf-8"}.merge(headers)) }
    Rack::MockRequest.new(Rack::Lint.new(app)).request(env.delete("REQUEST_METHOD") || "GET", "/", env)
  end

  def made(part, kind)
    case kind
    when :fragment then Fragment.new(part)
    when :secret then Fragment.secret(part)
    else part
    end
  end

  def random_page(random)
    text = "".b
    page = Array.new(random.rand(60)).inject(Page.new) do |sum, _|
      part = [random.bytes(random.rand(2000)), "word " * random.rand(500), ""].sample(random: random)
      text << part
      sum << made(part.b, %i[itself fragment secret].sample(random: random))
    end
    [page, text]
  end
end
