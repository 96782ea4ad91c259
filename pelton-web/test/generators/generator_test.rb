# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsGeneratorTest < PeltonTest
  include Generating

  def generator = Generators::Generator.new(Generators::Files.new(@root, out: StringIO.new))

  def test_the_application_s_class
    assert_equal "Shop", generator.application
    put("config/application.rb", "module A\n  class Other < Pelton::Web::Application\n  end\nend\n")

    assert_equal "Other", generator.application
  end

  # A comment declares nothing.
  def test_no_application
    put("config/application.rb", "# class Shop < Pelton::Web::Application\n")

    assert_raises(Generators::Refused) { generator }
  end
end
