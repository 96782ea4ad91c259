# frozen_string_literal: true

require "test_helper"

class AttachmentsControllerTest < ApplicationTest
  PICTURE = File.binread(File.expand_path("../fixtures/picture.png", __dir__))

  def setup
    @user = sign_in
    @room = Room.create(name: "Kitchen") { |room| room.creator = @user }
    @room.join(@user)
  end

  def teardown
    Attachment.all.each { |one| [one.file, one.thumbnail].compact.each { |key| app.settings.uploads.delete(key) } }
  end

  def send_file(bytes, name, text: "", client_id: "1")
    post "/rooms/#{@room.id}/messages", message: {text: text, client_id: client_id}, file: upload(name, content: bytes)
    Attachment.order(:id).last
  end

  def path(attachment) = "/rooms/#{@room.id}/attachments/#{attachment.id}"

  def test_an_image_and_its_thumbnail
    attachment = send_file(PICTURE, "../a <picture>.png")

    assert_equal "a <picture>.png", attachment.name
    assert_equal "image/png", attachment.kind
    assert_equal 480, attachment.width
    assert_equal 320, attachment.height
    get path(attachment)

    assert_equal PICTURE, response.body.b
    assert_equal "image/png", response["content-type"]
    get "#{path(attachment)}/thumbnail"

    assert_equal "RIFF", response.body.b[0, 4]
    assert_equal "image/webp", response["content-type"]
    get "/rooms/#{@room.id}"

    assert_includes response.body, "attachments/#{attachment.id}/thumbnail"
    files = [attachment.file, attachment.thumbnail].map { |key| app.settings.uploads.path(key) }
    delete "/rooms/#{@room.id}/messages/#{attachment.message_id}"

    assert_empty files.select { |file| File.exist?(file) }
  end

  def test_a_post_that_is_sent_again_keeps_one_file
    2.times { send_file("text", "a.txt") }

    assert_equal 1, Attachment.count
    assert_equal 1, Dir[File.join(app.settings.uploads.folder, "*/*")].count { |file| File.read(file) == "text" }
  end

  def test_what_is_not_taken
    send_file("x" * (Attachment::LARGEST + 1), "large.mov", text: "My <b>words</b>")

    assert_response 422, "The file is too large", "My &lt;b&gt;words&lt;/b&gt;</textarea>"
    post "/rooms/#{@room.id}/messages",
      {message: {text: "x", client_id: "1"}, file: upload("a.csv", content: "x" * (Attachment::LARGEST + 1))},
      "HTTP_ACCEPT" => "application/json"

    assert_match(/too large/, json_response.fetch("error"))
    send_file("#{PICTURE[0, 100]}#{"\0" * 1000}".b, "broken.png", client_id: "2")

    assert_nil Attachment.first.thumbnail
    get "/rooms/#{@room.id}"

    assert_response 200, "no preview: the image is broken"
    post "/rooms/#{@room.id}/messages", message: {text: "x", client_id: "bad id!"},
      file: upload("a.txt", content: "text")

    assert_equal 1, Attachment.count
  end

  # Browsers neither show nor run what is no image, sound, film or plain text.
  def test_ordinary_files
    {"a.csv" => "a,b\n1,2\n", "a.docx" => "PK\3\4\x14\0\6\0", "a.mov" => "\0\0\0\x14ftypqt  \0\0\0\0qt  ",
     "a.svg" => "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>",
     "a.png" => "<html><script>alert(1)</script>", "a.bin" => "\0\1\2"}.each do |name, bytes|
      attachment = send_file(bytes.b, name, client_id: name.tr(".", "-"))

      assert_response 303
      get path(attachment)

      assert_equal 200, response.status, name
      assert_equal bytes.b, response.body.b, name
      unless response["content-disposition"].start_with?("attachment")
        refute_match(/svg|html/, response["content-type"], name)
      end
    end
  end

  def test_members_alone_see_it
    attachment = send_file("text", "a.txt", text: "look")
    other = Room.create(name: "Other")
    [@room, other].each do |room|
      sign_in(create_user("#{room.id}@example.com")).then do |user|
        other.join(user) if other.memberships_dataset.where(user_id: user.id).empty?
      end
    end
    [path(attachment), "/rooms/#{other.id}/attachments/#{attachment.id}",
      "#{path(attachment)}/thumbnail"].each do |address|
      get address

      assert_response 404
    end
  end

  def test_a_picture_of_a_wrong_type_leaves_the_form_as_it_was
    patch "/account", user: {name: "Ann B"}, avatar: upload("me.txt", content: "text")

    assert_response 422, "The picture must be"
    assert_includes response.body, "value=\"Ann B\""
  end

  def test_why_an_image_has_no_thumbnail
    error = assert_raises(Thumbnail::Failed) { Thumbnail.make(__FILE__, "image/png", "96x96") }

    assert_match(/\A\S+: improper image header/, error.message)
  end

  # A small file of many pixels.
  def test_an_image_is_too_large_for_a_thumbnail
    chunk = ->(name, data) { [data.bytesize, name, data, Zlib.crc32(name + data)].pack("Na4a*N") }
    header = chunk.call("IHDR", [20_000, 20_000, 1, 0, 0, 0, 0].pack("NNC5"))
    Tempfile.create(binmode: true) do |file|
      file << "\x89PNG\r\n\x1A\n".b << header << chunk.call("IDAT", Zlib.deflate("\0" * 2501 * 20_000)) <<
        chunk.call("IEND", "")
      file.flush

      assert_equal "the image is broken, or has too many pixels",
        assert_raises(Thumbnail::Failed) { Thumbnail.make(file.path, "image/png", "96x96") }.problem
    end
  end

  def test_a_picture_of_the_user
    patch "/account", user: {name: "Ann B"}, avatar: upload("me.png", content: PICTURE)
    user = @user.reload

    assert_equal "Ann B", user.name
    clear_cookies
    get "/avatars/#{user.avatar}"

    assert_equal 200, response.status
    assert_equal "image/webp", response["content-type"]
    assert_equal "public, max-age=31536000", response["cache-control"]
    get "/avatars/00/#{"0" * 32}"

    assert_response 404
    app.settings.uploads.delete(user.avatar)
  end
end
