# frozen_string_literal: true

require "test_helper"
require "pp"
require "pelton"

class OpaqueTest < PeltonTest
  Account = Struct.new(:password) { include Pelton::Opaque }
  Table = Class.new(Hash) { include Pelton::Opaque }

  class Door
    include Pelton::Opaque

    def initialize = @key = "secret"

    def open = knock
  end

  def test_only_the_class_is_shown
    {Account.new("secret") => "#<OpaqueTest::Account>", Table.new.update("secret" => 1) => "#<OpaqueTest::Table>",
     Door.new => "#<OpaqueTest::Door>"}.each do |object, text|
      assert_equal text, object.inspect
      assert_equal text, object.to_s
      assert_equal text, format("%s", object)
      assert_equal "#{text}\n", object.pretty_inspect
    end
  end

  def test_the_message_of_a_name_error
    error = assert_raises(NameError) { Door.new.open }

    refute_match(/secret/, error.full_message)
    assert_match(/knock/, error.message)
  end
end
