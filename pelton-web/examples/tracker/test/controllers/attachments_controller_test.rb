# test/controllers/attachments_controller_test.rb
# frozen_string_literal: true

require "test_helper"

class AttachmentsControllerTest < ApplicationTest
  IMAGE = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR".b

  def setup
    @issue = Issue.create(title: "It breaks") { |issue| issue.user = sign_in }
  end

  def teardown
    Attachment.select_map(:file).each { |key| app.settings.uploads.delete(key) }
  end

  def send_file(bytes, name)
    post "/issues/#{@issue.id}/attachments", file: upload(name, content: bytes)
  end

  def test_a_file_is_kept_and_sent
    send_file(IMAGE, "screen.png")
    follow_redirect!

    assert_response 200, "The file is here.", "screen.png"
    get "/issues/#{@issue.id}/attachments/#{Attachment.first.id}"

    assert_equal IMAGE, response.body.b
    assert_equal "image/png", response["content-type"]
    assert_equal "nosniff", response["x-content-type-options"]
    assert_includes response["content-disposition"], "attachment; filename=\"screen.png\""
  end

  def test_what_a_file_contains_counts
    send_file("<html><script>alert(1)</script>", "screen.png")

    assert_response 422
    assert_equal 0, Attachment.count
  end
end
