# frozen_string_literal: true

require_relative "api_fixture"

class SiteApiTest < SiteApiTestCase
  needs "api"

  def test_declared_objects_are_shown_in_groups
    with_api do |api|
      assert_equal [["Runtime", %w[Pelton Pelton::Stream]], ["Errors", %w[Pelton::Error]], ["EventMachine", %w[EventMachine]]],
        api.groups.map { |group| [group.title, group.objects.map(&:path)] }
    end
  end

  def test_methods_in_c_and_those_that_are_only_declared
    with_api do |api|
      assert_equal %i[<< close fd gets looped], api.methods_of(api.find("Stream")).map(&:name).sort
      assert_equal "A line, in C.", api.find("Stream#gets").docstring
      assert_equal "The end.", api.find("Stream#close").docstring, "YARD alone loses it: it comes last"
      assert_equal ["(?chomp: bool) -> String?"], api.types_of(api.find("Stream#gets"))
      assert_equal [:LIMIT], api.constants_of(api.find("Stream")).map(&:name)
    end
  end

  def test_urls
    with_api do |api|
      assert_equal "api/Pelton/Stream.html", api.url(api.find("Stream"))
      assert_equal "api/Pelton/Stream.html#gets-instance_method", api.url(api.find("Stream#gets"))
      assert_equal "api/Pelton.html#run-class_method", api.url(api.find("Pelton.run"))
      assert_equal "api/Pelton/Stream.html#-3c-3c-instance_method", api.url(api.find("Stream#<<"))
      assert_equal "api/Pelton/Stream.html#LIMIT-constant", api.url(api.find("Stream::LIMIT"))
      assert_equal "api/EventMachine.html#connect-class_method", api.url(api.find("EM.connect"))
      assert_nil api.url(api.find("Secret"))
      assert_nil api.url(api.find("Hidden"))
      assert_nil api.find("Gone")
    end
  end
end
