# frozen_string_literal: true

require "test_helper"
require "pelton/web"
require "tempfile"

class WebParamsUploadTest < PeltonTest
  def test_its_name_is_no_path
    {"a.txt" => "a.txt", "../../etc/passwd" => "passwd", "C:\\x\\y.png" => "y.png", "a\r\nb\0" => "a__b_", ".." => "_",
     "" => "_", nil => "_", "\xff.png" => "_.png",
     "é" * 200 => "é" * 127}.each do |name, expected|
      assert_equal expected, Pelton::Web::Params::Upload.new({filename: name}).original_filename
    end
  end

  def test_its_bytes
    file = Tempfile.new.tap { |one| one.write("abc") && one.rewind }
    upload = Pelton::Web::Params::Upload.new({tempfile: file, type: "text/plain"})

    assert_equal "abc", upload.read
    assert_equal 3, upload.size
    assert_equal "text/plain", upload.content_type
    assert_equal file.path, upload.path
    assert_equal "a", upload.rewind && upload.read(1)
  ensure
    file&.close!
  end
end
