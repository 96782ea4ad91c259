# frozen_string_literal: true

require "pelton/web"
require_relative "../support/requests"

class WebSecurityHeadersTest < PeltonTest
  include WebRequests

  POLICY =
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; " \
    "frame-ancestors 'self'"

  def headers(set = {"content-type" => "text/html"}, scheme: "http", app: nil, **options)
    app ||= ->(_env) { [200, set.dup, ["x"]] }
    request(Pelton::Web::SecurityHeaders.new(app, **options), "GET", "/", "rack.url_scheme" => scheme).headers
  end

  def test_documents
    expected = {"content-type" => "text/html", "x-content-type-options" => "nosniff",
                "content-security-policy" => POLICY,
                "referrer-policy" => "strict-origin-when-cross-origin", "cross-origin-opener-policy" => "same-origin"}

    assert_equal expected, headers.except("content-length")
    ["image/svg+xml", "application/xhtml+xml", "text/XML", "application/pdf"].each do |type|
      assert_equal POLICY, headers({"content-type" => type})["content-security-policy"]
    end
  end

  def test_other_responses
    assert_equal({"content-type" => "image/png", "x-content-type-options" => "nosniff"},
      headers({"content-type" => "image/png"}).except("content-length"))
    assert_equal "nosniff", headers({})["x-content-type-options"]
  end

  def test_what_the_application_says_stays
    own = {"content-type" => "text/html", "x-content-type-options" => "x",
           "content-security-policy" => "default-src *", "referrer-policy" => "no-referrer"}

    assert_equal own, headers(own).slice(*own.keys)
  end

  def test_directives
    policy = headers(policy: {"img-src" => "'self' https://images.example", "form-action" => nil,
                              "upgrade-insecure-requests" => ""})["content-security-policy"]

    assert_equal "default-src 'self'; img-src 'self' https://images.example; object-src 'none'; base-uri 'self'; " \
      "frame-ancestors 'self'; upgrade-insecure-requests", policy
    refute headers(policy: nil).key?("content-security-policy")
  end

  def test_no_directive_begins_another_one
    [{"img-src" => "*; script-src *"}, {"img-src" => "*\r\nx: y"}, {"img-src" => "*, x"}, {"img src" => "*"},
      {"img-src" => 1}].each do |policy|
      assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::SecurityHeaders.new(nil, policy: policy) }
    end
  end

  # A page without a nonce is the same for everybody, so it can be cached.
  def test_a_nonce_is_allowed_when_it_was_asked_for
    nonces = []
    app = lambda do |env|
      nonces << Pelton::Web::SecurityHeaders.nonce(env)

      assert_equal nonces.last, Pelton::Web::SecurityHeaders.nonce(env)
      [200, {"content-type" => "text/html"}, []]
    end
    policies = Array.new(2) { headers(app: app)["content-security-policy"] }

    refute_equal(*nonces)
    assert_equal nonces.map { |nonce|
      "#{POLICY}; script-src 'self' 'nonce-#{nonce}'; style-src 'self' 'nonce-#{nonce}'"
    },
      policies
    assert_includes headers(app: app, policy: {"script-src" => "'strict-dynamic'"})["content-security-policy"],
      "script-src 'strict-dynamic' 'nonce-#{nonces.last}'"
  end

  def test_a_page_with_a_nonce_is_one_clients_own
    app = lambda do |env|
      Pelton::Web::SecurityHeaders.nonce(env) if env["QUERY_STRING"] == "nonce"
      [200, {"content-type" => "text/html", "cache-control" => "public, max-age=60"}, []]
    end
    answers = ["", "nonce"].map do |query|
      Pelton::Web::SecurityHeaders.new(app).call({"QUERY_STRING" => query})[1]["cache-control"]
    end

    assert_equal ["public, max-age=60", "private, max-age=60"], answers
  end

  def test_strict_transport_is_for_tls_alone
    assert_equal "max-age=60", headers(scheme: "https", strict_transport: 60)["strict-transport-security"]
    assert_equal "max-age=1; preload",
      headers(scheme: "https", strict_transport: "max-age=1; preload")["strict-transport-security"]
    refute headers(strict_transport: 60).key?("strict-transport-security")
    refute headers(scheme: "https").key?("strict-transport-security")
  end

  def test_the_settings
    settings = Pelton::Web::Settings.new.tap { |one| one.environment = "production" }

    assert_equal 31_536_000, settings.strict_transport
    settings.security_headers = false

    assert_equal :app, Pelton::Web::SecurityHeaders.wrap(:app, settings)
  end
end
