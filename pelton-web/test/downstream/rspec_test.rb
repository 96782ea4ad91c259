# frozen_string_literal: true

require_relative "../support/web_program"

# The guide's specification, with RSpec and factory_bot, of an application with a database.
class WebRSpecTest < PeltonTest
  include WebProgram

  self.deadline = 120

  APPLICATION = <<~'RUBY'
    require "rspec/autorun"
    require "pelton/web"
    require "pelton/sequel"

    database = Pelton::Sequel.connect("sqlite://#{Dir.pwd}/shop.sqlite3")
    database.create_table(:posts) do
      primary_key :id
      String :title, null: false
    end

    class Post < Sequel::Model
    end

    class PostsController < Pelton::Web::Controller
      def show = render(text: Post.with_pk!(params.integer(:id)).title)

      def create
        post = Post.create(title: params.string(:title))
        redirect_to "/posts/#{post.id}"
      end
    end

    class Shop < Pelton::Web::Application
      routes { resources :posts, only: %i[show create] }
    end

    at_exit { puts "left: #{Post.count}" }
  RUBY

  def test_the_guide_s_specification_passes
    output = web_output("#{APPLICATION}\n#{guide_code("web_testing.md", "RSpec and factory_bot")}")

    assert_match(/^2 examples, 0 failures$/, output)
    assert_match(/^left: 0$/, output)
  end
end
