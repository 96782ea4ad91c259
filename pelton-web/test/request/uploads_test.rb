# frozen_string_literal: true

require "tempfile"
require "pelton/web"
require "support/temporary_folder"
require_relative "../support/controllers"

class WebUploadsTest < PeltonTest
  include TemporaryFolder
  include WebControllers

  Uploads = Pelton::Web::Uploads

  def setup
    super
    @uploads = Uploads.new("#{@folder}/uploads")
  end

  def upload(bytes = "abc", folder = nil)
    file = Tempfile.new("upload", folder, binmode: true)
    file.write(bytes) # and not flushed
    Pelton::Web::Params::Upload.new({tempfile: file, filename: "../a.txt", type: "text/plain"})
  end

  def files = Dir["#{@folder}/uploads/**/*"].select { |path| File.file?(path) }

  def test_a_file_is_moved_to_a_random_name
    one, other = Array.new(2) { @uploads.keep(upload) }

    assert_match(%r{\A(\h\h)/\1\h{30}\z}, one)
    refute_equal one, other
    assert_equal "abc", File.read(@uploads.path(one))
    assert_equal 0o600, File.stat(@uploads.path(one)).mode & 0o777
    assert_equal 2, files.size
  end

  def test_it_can_still_be_read_and_closed
    one = upload("x" * 100_000)
    key = @uploads.keep(one)
    one.rewind

    assert_equal 100_000, one.read.size
    one.tempfile.close!

    assert_equal 100_000, File.size(@uploads.path(key))
  end

  def test_the_loop_goes_on_meanwhile
    threads = []
    file = upload
    Pelton.run do
      FileUtils.stub(:mkdir_p, ->(*) { threads << Thread.current }) do
        assert_raises(Errno::ENOENT) { @uploads.keep(file) }
      end
      Pelton.stop
    end

    refute_includes threads, Thread.current
  end

  def test_another_file_system
    unless File.directory?("/dev/shm") && File.writable?("/dev/shm") &&
        File.stat("/dev/shm").dev != File.stat(@folder).dev
      skip "there is no second file system"
    end
    key = @uploads.keep(upload("é".b * 50_000, "/dev/shm"))

    assert_equal "é".b * 50_000, File.binread(@uploads.path(key))
    assert_equal [@uploads.path(key)], files
  end

  def test_a_file_that_cannot_be_copied_leaves_nothing
    File.stub(:rename, ->(*) { raise Errno::EXDEV }) do
      assert_raises(Errno::ENOSPC) { IO.stub(:copy_stream, ->(*) { raise Errno::ENOSPC }) { @uploads.keep(upload) } }
    end

    assert_empty files
  end

  def test_a_file_whose_record_is_not_kept_goes_with_it
    assert_equal :saved, @uploads.keep(upload) { |_| :saved }
    assert_equal 1, files.size
    assert_raises(KeyError) { @uploads.keep(upload) { |key| raise KeyError, @uploads.path(key) } }
    catch(:out) { @uploads.keep(upload) { throw :out } }

    assert_equal 1, files.size
  end

  # In the block of keep, the file is described.
  def test_a_file_that_was_kept_is_still_read
    file = upload("\x89PNG\r\n\x1A\n".b)
    key = @uploads.keep(file)

    assert_equal "image/png", file.type
    assert_equal @uploads.path(key), file.path
    assert_equal 8, file.size
  end

  # As an image that the program has made.
  def test_what_is_no_upload_is_kept_as_well
    file = Tempfile.new("image", binmode: true).tap { |one| one.write("abc") }

    assert_equal "abc", File.read(@uploads.path(@uploads.keep(Struct.new(:tempfile).new(file))))
  end

  def test_only_keys_lead_to_files
    key = @uploads.keep(upload)
    File.write("#{@folder}/secret", "secret")
    ["../secret", "/etc/passwd", "#{key}/", "#{key}\n", "#{key}\0", key.upcase, key[3..], "", nil, 7, [key],
      "\xff"].each do |bad|
      next if bad == key

      assert_raises(Pelton::Web::NotFound, bad.inspect) { @uploads.path(bad) }
      refute @uploads.delete(bad)
    end
    assert_equal true, @uploads.delete(key)
    assert_equal false, @uploads.delete(key)
    assert_raises(Pelton::Web::NotFound) { @uploads.path(key) }
  end

  def test_a_public_folder_is_refused
    assert_same @uploads, @uploads.outside("#{@folder}/upload")
    assert_same @uploads, @uploads.outside(nil)
    ["#{@folder}/uploads", @folder, "#{@folder}/x/.."].each do |public|
      assert_raises(Pelton::Web::ConfigurationError, public) { @uploads.outside(public) }
    end
    assert_raises(Pelton::Web::ConfigurationError) { Pelton::Web::Settings.new.uploads = "/tmp" }
    assert_equal File.expand_path("uploads"), Pelton::Web::Settings.new.tap { |one| one.root = "." }.uploads.folder
  end

  def test_how_it_is_sent
    key = @uploads.keep(upload("<script>"))
    sent = ->(**options) {
      request(answering({uploads: @uploads}) { send_upload(key, **options) }, "GET",
        "/").then do |answer|
          [*%w[content-type content-disposition x-content-type-options].map { |name| answer[name] }, answer.body]
        end
    }

    assert_equal ["application/octet-stream", "attachment; filename=\"#{key[3..]}\"", "nosniff", "<script>"], sent.call
    assert_equal ["image/png", 'inline; filename="a.png"', "nosniff", "<script>"],
      sent.call(type: "image/png", filename: "a.png", disposition: "inline")
    ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "text/javascript", "application/octet-stream",
      "text/plain2", "ximage/png"].each do |type|
      assert_equal "attachment; filename=\"a\"", sent.call(type: type, filename: "a", disposition: "inline")[1], type
    end
    assert_equal 404, request(answering({uploads: @uploads}) { send_upload("../secret") }, "GET", "/").status
  end

  PNG = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR".b

  def test_a_form_s_file_from_the_form_to_the_page
    store = @uploads
    app = Class.new(Pelton::Web::Application) do
      settings.uploads = store
      routes do
        post("/") { uploads.keep(params.file(:photo, types: %w[image/png image/jpeg], max_bytes: 100)) }
        get("/*key") { send_upload params[:key], type: "image/png", disposition: "inline" }
      end
    end
    key = post(app, PNG, "image/png")

    assert_equal 200, key.status
    assert_equal PNG, request(app, "GET", "/#{key.body}").body.b
    {["<html>", "image/png"] => "photo must be image/png or image/jpeg, and is text/html",
     [PNG + ("x" * 100), "image/png"] => "photo is too large: 100 bytes at most"}.each do |(bytes, type), complaint|
      answer = post(app, bytes, type)
      assert_equal 422, answer.status
      assert_equal true, answer.body.include?(complaint)
    end
    assert_equal 422, request(app, "POST", "/", params: {photo: "text"}).status
    assert_equal 1, files.size
  end

  def test_forms_that_are_malformed_say_what_is_wrong
    app = answering { params.to_h.keys.join }
    whole = "--B\r\ncontent-disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nx\r\n--B--\r\n"
    type = "multipart/form-data; boundary=B"

    assert_equal [200, "f"], multipart(app, whole, type)
    {[whole[0..-12], type] => /ends before its last part/, ["garbage", type] => /boundary/,
     [whole.tr("B", "C"), type] => /boundary/, [whole, "multipart/form-data"] => /names no boundary/,
     [whole, "multipart/form-data; boundary="] => /names no boundary/,
     [whole.sub("--B--", "--B") + whole.sub("--B--", "--B") * 200 + "--B--\r\n",
       type] => /too many files/}.each do |(body, content_type), complaint|
      status, text = multipart(app, body, content_type)

      assert_equal 400, status, complaint.source
      assert_match complaint, text
      refute_match(/Rack|EOFError/, text)
    end
  end

  private

  def multipart(app, body, type)
    request(app, "POST", "/", "CONTENT_TYPE" => type, :input => body).then { |answer| [answer.status, answer.body] }
  end

  def post(app, bytes, type)
    body =
      "--B\r\ncontent-disposition: form-data; name=\"photo\"; filename=\"../x.png\"\r\n" \
      "content-type: #{type}\r\n\r\n".b << bytes.b <<
      "\r\n--B--\r\n"
    request(app, "POST", "/", "CONTENT_TYPE" => "multipart/form-data; boundary=B", "HTTP_ACCEPT" => "text/plain",
      :input => body)
  end
end
