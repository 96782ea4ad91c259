# frozen_string_literal: true

# Thredded, a forum, in an application that only knows users and how they sign in. RAILTIE is what the application's
# Gemfile would bring for its server.
require_relative "../host"
require "thredded"
require ENV["RAILTIE"] if ENV["RAILTIE"]

Thredded.user_class = "User"
Thredded.current_user_method = :current_user
Thredded.user_path = ->(user) { "/users/#{user.id}" }
Thredded.email_from = "forum@example.com"

class ForumApplication < Rails::Application
  Host.configure(self, __dir__)

  routes.append do
    resource :user_session, path: "session", controller: :sessions, only: %i[new create destroy]
    direct(:destroy_user_session) { user_session_path } # what Thredded links to
    mount Thredded::Engine => "/forum"
  end
end

InlineSvg.configure do |config|
  config.asset_file =
    InlineSvg::CachedAssetFile.new(paths: [Thredded::Engine.root.join("app/assets/images").to_s], filters: /\.svg/)
end

ForumApplication.initialize!
