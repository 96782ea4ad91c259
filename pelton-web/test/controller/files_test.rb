# frozen_string_literal: true

require "pelton/web"
require "support/temporary_folder"
require_relative "../support/controllers"

class WebControllerFilesTest < PeltonTest
  include TemporaryFolder
  include WebControllers

  def setup
    super
    File.write("#{@folder}/a.txt", "0123456789")
    File.write("#{@folder}/empty.bin", "")
    FileUtils.mkdir("#{@folder}/inside")
    File.symlink("#{@folder}/a.txt", "#{@folder}/inside/link")
    File.mkfifo("#{@folder}/inside/pipe")
  end

  def test_a_file
    one = send_file("a.txt")

    assert_equal [200, "0123456789", "text/plain", "10", 'attachment; filename="a.txt"', "nosniff"],
      [one.status, one.body,
        *%w[content-type content-length content-disposition x-content-type-options].map { |name| one[name] }]
    again = send_file("a.txt", "HTTP_IF_MODIFIED_SINCE" => one["last-modified"])
    assert_equal 304, again.status
    assert_equal "", again.body
  end

  def test_parts
    assert_equal [206, "234", "bytes 2-4/10"],
      send_file("a.txt", "HTTP_RANGE" => "bytes=2-4").then { |one| [one.status, one.body, one["content-range"]] }
    assert_equal [416, "bytes */10"],
      send_file("a.txt", "HTTP_RANGE" => "bytes=20-").then { |one| [one.status, one["content-range"]] }
    assert_match(%r{\Amultipart/byteranges}, send_file("a.txt", "HTTP_RANGE" => "bytes=0-1,4-5")["content-type"])
    assert_equal [200, 206], [Time.now.httpdate + "x", File.mtime("#{@folder}/a.txt").httpdate]
      .map { |time| send_file("a.txt", "HTTP_RANGE" => "bytes=2-4", "HTTP_IF_RANGE" => time).status }
    ["bytes=x", "bytes=5-2", "bytes=#{(0..2000).map { |from| "#{from}-" }.join(",")}"].each do |range|
      assert_includes [200, 416], send_file("a.txt", "HTTP_RANGE" => range).status
    end
  end

  def test_only_files_inside_the_root
    folder = "#{@folder}/inside"
    ["../a.txt", "link", "#{@folder}/a.txt", "nothing", ".", "pipe", "a\0b", "", "x" * 5000].each do |path|
      assert_equal 404, answer { send_file path, root: folder }.status, path[0, 50]
    end
    assert_equal 404, send_file("inside").status
  end

  def test_files_that_begin_with_a_dot_are_nobody_s_business
    folder = "#{@folder}/inside"
    FileUtils.mkdir_p("#{folder}/.git")
    %w[.git/config .env].each { |name| File.write("#{folder}/#{name}", "secret") }
    File.symlink("#{folder}/.env", "#{folder}/plain")

    [".git/config", ".env", "plain"].each do |path|
      assert_equal 404, answer { send_file path, root: folder }.status, path
    end
    assert_equal "secret", answer { send_file "#{folder}/.env" }.body
    assert_equal "secret", answer { send_file "config", root: "#{folder}/.git" }.body
  end

  def test_head
    app = answering_file("a.txt")

    one = request(app, "HEAD", "/")
    assert_equal 200, one.status
    assert_equal "", one.body
    assert_equal "10", one["content-length"]
  end

  def test_names_make_no_header
    {"a b.txt" => 'filename="a b.txt"', "é.txt" => "filename=\"_.txt\"; filename*=UTF-8''%C3%A9.txt",
     "a\"; x=\"b" => "filename=\"a_; x=_b\"; filename*=UTF-8''a%22%3B%20x%3D%22b",
     "a\r\nset-cookie: x" => 'filename="a__set-cookie: x"', "\xff" => 'filename="_"'}.each do |name, expected|
      one = answer { send_data "x", filename: name }

      assert_equal "attachment; #{expected}", one["content-disposition"]
      assert_nil one["set-cookie"]
    end
  end

  def test_bytes
    one = answer { send_data "a,b", filename: "list.csv", disposition: "inline" }

    assert_equal "a,b", one.body
    assert_equal "text/csv", one["content-type"]
    assert_equal 'inline; filename="list.csv"', one["content-disposition"]
    other = answer { send_data "x", disposition: nil }
    assert_equal "application/octet-stream", other["content-type"]
    assert_nil other["content-disposition"]
  end

  def test_pelton_s_server_sends_it
    with_server(answering_file("a.txt")) do |url|
      assert_equal "0123456789", Pelton::HTTP.get(url).body
      assert_equal "89", Pelton::HTTP.get(url, headers: {"range" => "bytes=-2"}).body
    end
  end

  private

  def answering_file(path)
    folder = @folder
    answering { send_file path, root: folder }
  end

  def send_file(path, **env) = request(answering_file(path), "GET", "/", **env)
end
