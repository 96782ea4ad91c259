# frozen_string_literal: true

# Pictures of users. A new picture has a new address, so everybody keeps them, also the server
# (`pelton serve --cache 64M`).
class AvatarsController < ApplicationController
  def show
    key = "#{params.string(:folder, max: 2)}/#{params.string(:name, max: 32)}"
    raise Pelton::Web::NotFound if User.where(avatar: key).empty?
    expires_in 365 * 86_400, public: true
    send_upload key, type: "image/webp", filename: "avatar.webp", disposition: "inline"
  end
end
