# frozen_string_literal: true

require "tmpdir"
require "pelton/web"
require_relative "../support/controllers"

class WebControllerConditionalTest < PeltonTest
  include WebControllers

  Post = Struct.new(:id, :updated_at)
  Model = Struct.new(:cache_key, :cache_version) do
    def cache_key_with_version = "#{cache_key}-#{cache_version}"
  end
  DAY = Time.utc(2026, 11, 22)

  def test_the_client_has_the_page
    made = 0
    app = answering { render plain: "page #{made += 1}" if stale?(["a", 1, Post.new(1, DAY)]) }
    first = request(app, "GET", "/")
    again = request(app, "GET", "/", "HTTP_IF_NONE_MATCH" => first["etag"])

    assert_equal 304, again.status
    assert_equal "", again.body
    assert_equal first["etag"], again["etag"]
    assert_equal 1, made
    assert_equal "private, no-cache", again["cache-control"]
    {"\"x\", #{first["etag"].delete_prefix("W/")}" => 304, "*" => 304, "\"x\"" => 200, "x" => 200}.each do |tag, status|
      assert_equal status, request(app, "GET", "/", "HTTP_IF_NONE_MATCH" => tag).status, tag
    end
  end

  # After a redirect, to a page that has not changed otherwise.
  def test_a_message_of_the_flash_is_shown
    app = answering do
      flash[:alert] = "wrong" if request.post?
      render plain: "page #{flash.alert}" if request.post? || stale?("a")
    end
    tag = request(app, "GET", "/")["etag"]
    cookie = request(app, "POST", "/", "HTTP_SEC_FETCH_SITE" => "same-origin")["set-cookie"][/\A[^;]*/]
    shown = request(app, "GET", "/", "HTTP_IF_NONE_MATCH" => tag, "HTTP_COOKIE" => cookie)

    assert_equal 200, shown.status
    assert_equal "page wrong", shown.body
    assert_nil shown["etag"]
    assert_equal 304,
      request(app, "GET", "/", "HTTP_IF_NONE_MATCH" => tag, "HTTP_COOKIE" => shown["set-cookie"][/\A[^;]*/]).status
  end

  def test_other_verbs_are_answered
    app = answering { render plain: "" if stale?("a") }
    etag = request(app, "GET", "/")["etag"]

    assert_equal [200, 304], %w[POST HEAD].map { |verb| request(app, verb, "/", "HTTP_IF_NONE_MATCH" => etag).status }
  end

  def test_by_time
    app = answering { render plain: "" unless fresh_when(last_modified: DAY, public: true) }

    times = {
      DAY.httpdate => 304,
      (DAY + 5).httpdate => 304,
      (DAY - 5).httpdate => 200,
      "yesterday" => 200,
      nil => 200
    }
    times.each do |time, status|
      assert_equal status, request(app, "GET", "/", "HTTP_IF_MODIFIED_SINCE" => time).status, time.inspect
    end
    assert_equal 200,
      request(app, "GET", "/", "HTTP_IF_MODIFIED_SINCE" => DAY.httpdate, "HTTP_IF_NONE_MATCH" => '"x"').status
    assert_equal "public, no-cache", request(app, "GET", "/")["cache-control"]
  end

  def test_other_parts_have_other_versions
    versions = [["ab"], %w[a b], ["a", "b", nil], [1], [1.0], [DAY], [Post.new(1, DAY)], [Post.new(2, DAY)],
      [Post.new(1, DAY + 1e-6)], [["a"], "b"], ["a,b"], [Date.new(2026, 11, 22)],
      [DateTime.new(2026, 11, 22, 0, 0, 1.5r)], [DateTime.new(2026, 11, 22, 0, 0, 1)], [Model.new("posts/1", 1)],
      [Model.new("posts/1", 2)], "ab", ["\xff", "å"]]
    etags = versions.map { |version| answer { render plain: "" if stale?(version) }["etag"] }

    assert_equal etags.uniq, etags
    assert_raises(ArgumentError) { answer { stale?(Object.new) } }
  end

  # A client of before the deployment must not keep the page of the old template.
  def test_another_template_is_another_version
    tags = ["<p>", "<h1>"].map do |text|
      Dir.mktmpdir do |folder|
        File.write(File.join(folder, "page.html.erb"), text)
        request(answering(views: [folder]) { render("page") if stale?("a") }, "GET", "/")["etag"]
      end
    end

    refute_equal(*tags)
  end

  # The keys of its fragments are the page's version, so nothing is rendered for a client that has it.
  def test_a_page_of_fragments_is_known_by_their_keys
    posts = [Post.new(1, DAY), Post.new(2, DAY)]
    rendered = []
    app = answering { (@posts, @rendered = posts, rendered) && render("posts") if stale?(posts) }
    statuses = Dir.mktmpdir do |folder|
      File.write(File.join(folder, "posts.html.erb"),
        "<% @posts.each do |post| %><% cache post do %><p><%= @rendered.push(post.id).last %></p><% end %><% end %>")
      app.settings.views = [folder]
      app.settings.fragments = Pelton::Web::Fragments.new
      tag = request(app, "GET", "/")["etag"]
      [request(app, "GET", "/", "HTTP_IF_NONE_MATCH" => tag).status,
        (posts[1] = Post.new(2, DAY + 1)) && request(app, "GET", "/", "HTTP_IF_NONE_MATCH" => tag).status]
    end

    assert_equal [304, 200], statuses
    assert_equal [1, 2, 2], rendered
  end

  # Chromium validates a page that it has by its tag, and gives the page to a script that has asked for another format
  # of the same address.
  def test_formats_of_an_address_have_tags_of_their_own
    within = answering do
      respond_to do |format|
        format.html { render html: "<p>" if stale?("v1") }
        format.json { render json: {} if stale?("v1") }
      end
    end
    before = answering do
      next unless stale?("v1")
      respond_to do |format|
        format.html { render html: "<p>" }
        format.json { render json: {} }
      end
    end
    dated = answering do
      respond_to do |format|
        format.html { render html: "<p>" if stale?(last_modified: DAY) }
        format.json { render json: {} if stale?(last_modified: DAY) }
      end
    end

    [within, before, dated].each do |app|
      html, json = %w[text/html application/json].map { |type| request(app, "GET", "/", "HTTP_ACCEPT" => type) }

      assert_equal "<p>", html.body
      assert_equal "{}", json.body
      [["text/html", html, 304], ["application/json", html, 200], ["text/html", json, 200],
        ["application/json", json, 304]].each do |type, known, status|
        answer = request(app, "GET", "/", "HTTP_ACCEPT" => type, "HTTP_IF_NONE_MATCH" => known["etag"],
          "HTTP_IF_MODIFIED_SINCE" => known["last-modified"])

        assert_equal status, answer.status
        assert_equal "accept", answer["vary"]
      end
    end
  end

  def test_clients_that_take_the_same_format_have_the_same_tag
    app = answering do
      respond_to do |format|
        format.html { render html: "<p>" if stale?("v1") } && format.json { render json: {} if stale?("v1") }
      end
    end
    tags = ["text/html", "text/html,*/*;q=0.8", nil].map do |type|
      request(app, "GET", "/", "HTTP_ACCEPT" => type)["etag"]
    end

    assert_equal 1, tags.uniq.size
  end

  def test_expires_in
    assert_equal ["private, max-age=60", "public, max-age=5"],
      [answer { expires_in(60) || "" }, answer { expires_in(5.5, public: true) || "" }]
        .map { |one| one["cache-control"] }
  end
end
